# The identity of one instruction set's kernels: a hash over the code that is compiled into its
# table, without comments and white space, so that wording does not make a hardware record stale.
#   layard_kernel_hash(<isa> <variable>)           16 hex digits
#   layard_recorded_isas(<variable>)               ISAs with a current record in docs/hardware.md
# As a script: cmake -DISA=avx2 -P cmake/KernelHash.cmake
cmake_policy(VERSION 3.22)
get_filename_component(LAYARD_KERNELS_DIR "${CMAKE_CURRENT_LIST_DIR}/../src/kernels" ABSOLUTE)
get_filename_component(LAYARD_HARDWARE_FILE
  "${CMAKE_CURRENT_LIST_DIR}/../docs/hardware.md" ABSOLUTE)

set(LAYARD_KERNEL_FILES_SHARED math-inl.h widen-inl.h rows-inl.h gemm-inl.h pack-inl.h int8-inl.h
  attention-inl.h table-inl.h)
set(LAYARD_KERNEL_FILES_scalar scalar.cc vec_emulated-inl.h)
set(LAYARD_KERNEL_FILES_avx2 avx2.cc vec_avx2-inl.h)
set(LAYARD_KERNEL_FILES_avx512 avx512.cc avx512_vnni.cc vec_avx512-inl.h)
set(LAYARD_KERNEL_FILES_amx amx.cc vec_avx512-inl.h tile_amx-inl.h tile_modes-inl.h tile_pack-inl.h
  tiles-inl.h)
set(LAYARD_KERNEL_FILES_neon neon.cc vec_neon-inl.h)
set(LAYARD_KERNEL_ISAS scalar avx2 avx512 amx neon)

function(layard_kernel_hash isa result)
  if(NOT isa IN_LIST LAYARD_KERNEL_ISAS)
    message(FATAL_ERROR "unknown instruction set '${isa}'; known: ${LAYARD_KERNEL_ISAS}")
  endif()
  set(all "")
  foreach(name IN LISTS LAYARD_KERNEL_FILES_SHARED LAYARD_KERNEL_FILES_${isa})
    file(READ "${LAYARD_KERNELS_DIR}/${name}" code)
    string(REGEX REPLACE "//[^\n]*" "" code "${code}")
    string(REGEX REPLACE "[ \t\r\n]+" "" code "${code}")
    string(APPEND all "${name}:${code}\n")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING "${hash}" 0 16 hash)
  set(${result} "${hash}" PARENT_SCOPE)
endfunction()

function(layard_recorded_isas result)
  file(READ "${LAYARD_HARDWARE_FILE}" records)
  set(found)
  foreach(isa IN LISTS LAYARD_KERNEL_ISAS)
    layard_kernel_hash(${isa} hash)
    if(records MATCHES "\n\\| ${isa} \\|[^\n]*\\| ${hash} \\|")
      list(APPEND found ${isa})
    endif()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  layard_kernel_hash("${ISA}" hash)
  message("${hash}")
endif()
