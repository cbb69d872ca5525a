# SPDX-License-Identifier: MIT

# autocalc_choose_sets(<variable> <isa>...)
#
# Sets the variable to the instruction sets that AUTOCALC_SIMD_SETS asks for, of those that this
# platform has, in rising order: all of them; native, the best one that this machine runs; or those
# that it names. Where the best one has matrix products alone, native is that and the best whole one.
function(autocalc_choose_sets variable)
  set(isas ${ARGN})
  if(AUTOCALC_SIMD_SETS STREQUAL "all")
    set(chosen ${isas})
  elseif(AUTOCALC_SIMD_SETS STREQUAL "native")
    autocalc_native_sets(chosen ${isas})
  else()
    set(chosen ${AUTOCALC_SIMD_SETS})
    foreach(isa IN LISTS chosen)
      if(NOT isa IN_LIST isas)
        message(FATAL_ERROR "AUTOCALC_SIMD_SETS is ${AUTOCALC_SIMD_SETS}; it must be all, native, "
                            "or names among ${isas}, with semicolons between them.")
      endif()
    endforeach()
  endif()
  set(${variable} ${chosen} PARENT_SCOPE)
endfunction()

function(autocalc_native_sets variable)
  if(CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "AUTOCALC_SIMD_SETS is native, and this build is for another machine: "
                        "name instruction sets among ${ARGN}, or all.")
  endif()
  set(chosen)
  list(REVERSE ARGN)
  foreach(isa IN LISTS ARGN)
    get_target_property(whole autocalc_${isa} AUTOCALC_WHOLE)
    if(chosen AND NOT whole)
      continue()
    endif()
    autocalc_runs(runs ${isa})
    if(runs)
      list(APPEND chosen ${isa})
      if(whole)
        break()
      endif()
    endif()
  endforeach()
  set(${variable} ${chosen} PARENT_SCOPE)
endfunction()

# Asks this machine's CPU with the loader's own question, isa/<isa>/cpu.hpp.
function(autocalc_runs variable isa)
  set(program "${CMAKE_CURRENT_BINARY_DIR}/runs_${isa}.cpp")
  file(WRITE "${program}" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/csrc/isa/${isa}/cpu.hpp\"\n"
                          "int main() { return !autocalc::loader::runs_${isa}(); }\n")
  try_run(status compiled "${CMAKE_CURRENT_BINARY_DIR}" "${program}")
  if(NOT compiled)
    message(FATAL_ERROR "csrc/isa/${isa}/cpu.hpp does not compile.")
  endif()
  if(status EQUAL 0)
    set(${variable} ON PARENT_SCOPE)
  else()
    set(${variable} OFF PARENT_SCOPE)
  endif()
endfunction()
