# SPDX-License-Identifier: BSD-3-Clause
# Completion of the telpher command for bash. After the subcommand's own options, programs and files.
_telpher() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="run exec info doctor bench tune coll report trace --version --help"
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case $before in
    --mpi) words="mpich ompi mpi_abi" ;;
    --backend) words="auto none cuda hip sycl emu" ;;
    --visible) words="auto first one all" ;;
    --bind) words="auto none" ;;
    --mode) words="telpher staged nccl other both all enqueued" ;;
    --type) words="float double int char" ;;
    --op) words="sum max min" ;;
    --win) words="create allocate" ;;
    --alloc) words="telpher malloc async vmm vmm-fd vmm-fd-pieces" ;;
    *)
      case ${COMP_WORDS[1]} in
        run) words="--ranks --mpi --backend --set --visible --bind --mpirun-args --print --json --help" ;;
        exec) words="--visible --bind --mpi --help" ;;
        info) words="--json --settings --all --backend --help" ;;
        tune) words="--ranks --sizes --rounds --min-time --margin --only --forms --whole --as-selection --mpi --mpirun-args --backend --output --json --timeout --help" ;;
        doctor) words="--ranks --mpi --backend --launch --timeout --json --facts --help" ;;
        coll) words="list verify simulate --machine --operation --algorithm --ranks --bytes --compress --csv --json --help" ;;
        report) words="--ranks --set --output --only --min-time --title --mpi --backend --again --render --plot-python --json --list --help" ;;
        trace) words="merge --output --summary --json --keep --ranks --mpi --backend --set --visible --bind --mpirun-args --help" ;;
        bench) words=$(_telpher_bench) ;;
        --version) words="--json" ;;
      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}
_telpher_bench() {
  local name
  for name in barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw reduce \
      allreduce reduce_scatter reduce_scatter_block scan exscan neighbor_allgather neighbor_allgatherv \
      neighbor_alltoall neighbor_alltoallv neighbor_alltoallw; do
    echo "$name i$name ${name}_persistent"
  done
  echo "collectives icollectives collectives_persistent latency multi_lat bw bibw mbw_mr matrix host compare codec memcpy
    put_latency get_latency put_bw get_bw acc_latency fop_latency cas_latency pack unpack halo file_write file_read
    --mpi --backend --set --visible --bind --mpirun-args --explain --help
    --sizes --buffers --mode --pairs --window --window-memory --persistent --derived --win --faces --file --root --type
    --op --neighbours --enqueue --stream-work --test-calls --device --alloc --iterations --warm-up --min-time --batches
    --validate --full --percentiles --memory-copy-limit --json --csv --progress
    --paths --html --once --threshold --best --flagged --rates --dims --codecs"
}
complete -o filenames -F _telpher telpher
