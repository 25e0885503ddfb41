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
    *)
      case ${COMP_WORDS[1]} in
        run) words="--ranks --mpi --backend --set --visible --bind --mpirun-args --print --json --help" ;;
        exec) words="--visible --bind --mpi --help" ;;
        info) words="--json --settings --all --backend --help" ;;
        tune) words="--ranks --sizes --rounds --min-time --margin --only --mpi --backend --output --json --timeout --help" ;;
        doctor) words="--ranks --mpi --backend --launch --timeout --json --help" ;;
        coll) words="list verify simulate --machine --operation --algorithm --ranks --bytes --compress --csv --json" ;;
        report) words="--ranks --set --output --only --min-time --title --mpi --backend --again --render --plot-python --json --list --help" ;;
        trace) words="merge --output --summary --json --keep --ranks --mpi --backend --set --help" ;;
        bench) words="latency matrix compare codec memcpy --mpi --backend --set --explain --help" ;;
      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}
complete -o filenames -F _telpher telpher
