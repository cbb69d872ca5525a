# SPDX-License-Identifier: MIT
# Cross-compiles for AArch64 with Debian's and Ubuntu's g++-aarch64-linux-gnu; ctest runs
# the programs under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# -L: the folder of that architecture's dynamic linker and libraries.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
