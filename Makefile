# SPDX-License-Identifier: BSD-3-Clause
# A few lines over CMake: every target first makes build/ ready (tools/setup.py), then builds one preset
# (CMakePresets.json), then runs something. `make help` lists the targets.
PYTHON ?= python3
SETUP = $(PYTHON) tools/setup.py $(if $(MPICH),--mpich $(MPICH)) $(if $(OMPI),--ompi $(OMPI))
# Warnings are errors in .ci/run only: every compiler has some of its own.
BUILD = $(PYTHON) tools/build.py -D TELPHER_WERROR=$(or $(WERROR),OFF) $(if $(CUDA_ARCHITECTURES),-D 'TELPHER_CUDA_ARCHITECTURES=$(CUDA_ARCHITECTURES)')
TEST = $(PYTHON) test/run.py
PATHS = $(shell sed -n '/, every,/s/^TELPHER_PATH.\([a-z_]*\),.*/\1/p' src/base/paths.def | paste -sd,)
WITH ?=
# Under sanitizers the core is what is tested, but for: programs that link a host MPI, which is not instrumented; what
# is no program of the core's (Python, the libraries' symbols); and what counts through very many plain states in one
# thread, ten seconds of each without a sanitizer.
UNFIT = _mpich,_ompi,tools_,unit.mpi,coll_verify,coll_mutations,coll_simulate,model_check
# The contract's variants differ in what the emulated device can do, not in its threads.
UNFIT_UNDER_TSAN = $(UNFIT),contract-emu-pcie,contract-emu-engine

# What meets foreign input, and what makes and frees: a handful for continuous integration.
RANKS_UNDER_ASAN = bad_input,arguments,chunks,chunk_runs-small,chunk_runs-mapped,lifetime,managed,datatypes,unpacked-two-nodes-pushed,windows_dynamic,sessions_apart,threads,coll_edges,coll_gaps-2-nodes,coll_two_level-kernel,stream_messages,stream_requests,stream_starts,stream_graphs,stream_matched,stream_random,stream_threads

.PHONY: help setup demo check check-short check-asan check-asan-ranks check-asan-mpi check-tsan check-vendors check-sycl check-mpis check-mpis-in-turn check-standard-abi check-nodes check-system stress lint format install uninstall wheels check-install check-plugins check-bare check-bare-core release clean

help:
	@echo "make demo           the quickest look: build one library, run it once, on GPUs or emulated devices"
	@echo "make install        build everything, install into PREFIX (default /usr/local); WITH='cuda hip sycl' fetches compilers (cuda12: for drivers older than 580), CUDA_ARCHITECTURES=native: for this machine's GPUs only"
	@echo "make check          build and run the tests (at most ten minutes on two cores)"
	@echo "make check-short    short forms of stress and check-nodes, a minute of everything with nothing left behind"
	@echo "make check-asan     tests of the core under AddressSanitizer and UndefinedBehaviorSanitizer; a minute of bad input"
	@echo "make check-asan-ranks a handful of MPI programs under them, over MPICH"
	@echo "make check-asan-mpi the MPI programs under them, over MPICH"
	@echo "make check-tsan     tests of the core under ThreadSanitizer"
	@echo "make check-vendors  compile the CUDA and HIP back ends (fetches or installs their compilers)"
	@echo "make check-sycl     the SYCL back end on a CPU device: contract, messages, collectives, applications"
	@echo "make check-mpis     all MPI programs and variants over both MPIs, then more ranks and every path forced"
	@echo "make check-mpis-in-turn more ranks and every path forced, each over one of the two MPIs, in turn"
	@echo "make check-standard-abi what of make check is about the library for MPI-5's standard ABI, which make check leaves out"
	@echo "make check-nodes    2 to 4 pretended nodes, and 2 nodes made of network namespaces (needs root)"
	@echo "make check-system   the tests over the MPIs that this machine brings"
	@echo "make stress         the long random runs"
	@echo "make lint           layers, sizes, licences, generated files, spelling, style"
	@echo "make format         format the C++ files as lint wants them"
	@echo "make setup          only make build/ ready; WITH=cuda fetches CUDA's compiler as well"
	@echo "make uninstall      remove what make install put into PREFIX, wherever it has been moved"
	@echo "make wheels         Python wheels into build/wheels/dist; WITH='cuda cuda12 hip sycl' adds the vendors' plug-ins"
	@echo "make check-install  wheels, CMake package and module file, used as users do"
	@echo "make check-plugins  wheels of the CUDA and ROCm plug-ins for one architecture each, installed and loaded"
	@echo "make check-bare     the wheels of make wheels in bare Debian 12 and Ubuntu 24.04 (needs root, minutes; not in .ci/run)"
	@echo "make check-bare-core the core wheel of check-install in bare Debian 12, where there is root and Debian's archive"
	@echo "make release        source archive, wheels, checksums and notes into build/dist; the core's wheel only, without WITH='cuda cuda12 hip sycl'"
	@echo "Behind any of them, MPICH=prefix OMPI=prefix: host MPIs to build for instead of those found or fetched"

setup:
	@$(SETUP) $(foreach part,mpi $(WITH),--with $(part)) --list

demo:
	@$(PYTHON) tools/demo.py $(if $(MPICH),--mpich $(MPICH)) $(if $(OMPI),--ompi $(OMPI))

check:
	@$(SETUP) --with mpich --with ompi --with zfp
	@$(BUILD) dev
	@$(TEST) build/dev --ring unit,contract,mpi --in-turn

check-short:
	@$(SETUP) --with mpich --with ompi --with zfp
	@$(BUILD) dev
	@$(TEST) build/dev --ring short

check-asan:
	@$(SETUP) --with mpich --with ompi --with zfp
	@$(BUILD) asan --target telpher_core_tests
	@$(TEST) build/asan --ring unit,contract,fuzz --but $(UNFIT)

check-asan-ranks:
	@$(SETUP) --with mpich --with ompi --with zfp
	@$(BUILD) asan --target telpher_rank_tests
	@$(TEST) build/asan --ring mpi --name $(RANKS_UNDER_ASAN)

check-asan-mpi:
	@$(SETUP) --with mpich --with ompi
	@$(BUILD) asan
	@$(TEST) build/asan --ring mpi

check-tsan:
	@$(SETUP) --with mpich --with ompi
	@$(BUILD) tsan --target telpher_core_tests
	@$(TEST) build/tsan --ring unit,contract --but $(UNFIT_UNDER_TSAN)

check-vendors:
	@$(SETUP) --with mpich --with cuda --with hip
	@$(BUILD) vendors --target telpher_vendor_parts
	@$(TEST) build/dev --ring contract

check-sycl:
	@$(SETUP) --with mpich --with ompi --with sycl
	@$(BUILD) dev --target telpher_sycl_tests
	@$(TEST) build/dev --ring sycl --jobs 2

check-mpis:
	@$(SETUP) --with mpich --with ompi
	@$(BUILD) dev
	@$(TEST) build/dev --ring mpi --mpi mpich,ompi
	@$(TEST) build/dev --ring mpi --mpi mpich,ompi --wide --vary TELPHER_PATH=$(PATHS) --beyond

check-mpis-in-turn:
	@$(SETUP) --with mpich --with ompi
	@$(BUILD) dev
	@$(TEST) build/dev --ring mpi --mpi mpich,ompi --wide --vary TELPHER_PATH=$(PATHS) --beyond --in-turn

check-standard-abi:
	@$(SETUP) --with mpich --with ompi --with zfp
	@$(BUILD) dev -D TELPHER_STANDARD_ABI=ON
	@$(TEST) build/dev --ring unit,mpi --name mpi_abi

check-nodes:
	@$(SETUP) --with mpich --with ompi
	@$(BUILD) dev
	@$(TEST) build/dev --ring mpi --mpi mpich,ompi --name matching,progress,random --vary TELPHER_TEST_PRETENDED_NODES=2,3,4 --wide
	@$(PYTHON) test/nodes.py build/dev

check-system:
	@$(SETUP)
	@$(BUILD) system; code=$$?; test $$code = 77 && echo '0 passed, 0 failed' && exit 0; \
	  test $$code = 0 && $(TEST) build/system --ring mpi

stress:
	@$(SETUP) --with mpich --with ompi
	@$(BUILD) dev
	@$(TEST) build/dev --ring stress

lint:
	@$(SETUP) --with lint
	@$(PYTHON) tools/lint.py

format:
	@$(SETUP) --with lint || true
	@$(PYTHON) tools/lint.py --format

install:
	@$(SETUP) --with mpi $(foreach part,$(WITH),--with $(part))
	@$(BUILD) release
	@$(BUILD) release --install $(or $(PREFIX),/usr/local)

uninstall:
	@$(SETUP)
	@$(PYTHON) tools/build.py --uninstall $(or $(PREFIX),/usr/local)

wheels:
	@$(SETUP) --with mpich --with ompi --with wheels $(foreach part,$(WITH),--with $(part))
	@$(BUILD) wheels --target telpher_installed
	@$(PYTHON) tools/package.py build/wheels
ifneq ($(filter cuda12,$(WITH)),)
	@$(BUILD) wheels_cuda12 --target telpher_cuda --target telpher_version
	@$(PYTHON) tools/package.py build/wheels_cuda12 --plugin cuda --out build/wheels/dist
endif

# From the build that the tests use: what is installed is the same, and needs no other build.
check-install:
	@$(SETUP) --with mpich --with ompi --with zfp --with wheels --with lmod
	@$(BUILD) dev -D TELPHER_STANDARD_ABI=ON --target telpher_installed
	@$(PYTHON) tools/package.py build/dev --core
	@$(PYTHON) test/install/run.py build/dev

# One architecture each, from the build of check-vendors: the plug-ins of make wheels hold all, and take long to compile.
check-plugins:
	@$(SETUP) --with mpich --with ompi --with zfp --with wheels --with cuda --with hip
	@$(BUILD) dev -D TELPHER_STANDARD_ABI=ON --target telpher_installed
	@$(PYTHON) tools/package.py build/dev --core
	@$(BUILD) vendors --target telpher_cuda --target telpher_hip --target telpher_version
	@$(PYTHON) tools/package.py build/dev --plugin cuda
	@$(PYTHON) tools/package.py build/dev --plugin hip
	@$(PYTHON) test/install/run.py build/dev plugins.Plugins

check-bare:
	@$(PYTHON) test/install/bare.py build/wheels/dist

# The wheel of check-install, where a root can be made; the plug-ins are check-plugins'.
check-bare-core:
	@$(SETUP) --with mpich --with ompi --with zfp --with wheels
	@$(BUILD) dev -D TELPHER_STANDARD_ABI=ON --target telpher_installed
	@$(PYTHON) tools/package.py build/dev --core
	@$(PYTHON) test/install/bare.py --if-possible build/dev/dist bookworm

release:
	@$(PYTHON) tools/release.py $(foreach part,$(WITH),--with $(part))

clean:
	rm -rf build
