# The identity of one instruction set's kernels: a hash over the code that is compiled into its
# table, without comments and white space, so that wording does not make a hardware record stale.
#   layard_code_hash(<variable> <file>...)         16 hex digits
#   layard_kernel_hash(<isa> <variable>)           the same over an ISA's files
#   layard_variant_hash(<isa> <variant> <variable>)  of one choice among an ISA's kernels
#   layard_recorded_isas(<variable>)               ISAs with a current record in docs/hardware.md
# As a script: cmake -DISA=avx2 -P cmake/KernelHash.cmake
cmake_policy(VERSION 3.22)
get_filename_component(LAYARD_KERNELS_DIR "${CMAKE_CURRENT_LIST_DIR}/../src/kernels" ABSOLUTE)
get_filename_component(LAYARD_HARDWARE_FILE
  "${CMAKE_CURRENT_LIST_DIR}/../docs/hardware.md" ABSOLUTE)

set(LAYARD_KERNEL_FILES_SHARED math-inl.h widen-inl.h rows-inl.h gemm-inl.h pack-inl.h int8-inl.h
  rotation-inl.h rotation_signs.h   attention-inl.h table-inl.h)
set(LAYARD_KERNEL_FILES_scalar scalar.cc vec_emulated-inl.h)
set(LAYARD_KERNEL_FILES_avx2 avx2.cc vec_avx2-inl.h words-inl.h)
set(LAYARD_KERNEL_FILES_avx512 avx512.cc avx512_vnni.cc avx512_bf16.cc avx512_sizes.h
  pairs-inl.h vec_avx512-inl.h)
set(LAYARD_KERNEL_FILES_amx amx.cc avx512_sizes.h vec_avx512-inl.h tile_amx-inl.h tile_modes-inl.h
  tile_pack-inl.h tiles-inl.h)
set(LAYARD_KERNEL_FILES_neon neon.cc neon_bf16.cc neon_i8mm.cc neon_sizes.h neon_block-inl.h
  neon_blocks-inl.h vec_neon-inl.h)
set(LAYARD_KERNEL_ISAS scalar avx2 avx512 amx neon)
# What a processor may have beyond an ISA: other kernels, hence other results and packed weights,
# out of the same code.
set(LAYARD_KERNEL_VARIANTS_avx512 vnni)
set(LAYARD_KERNEL_VARIANTS_neon bf16 i8mm bf16+i8mm)

# 16 hex digits over the files, each under its name: comments and white space do not count.
function(layard_code_hash result)
  set(all "")
  foreach(path IN LISTS ARGN)
    file(READ "${path}" code)
    string(REGEX REPLACE "//[^\n]*" "" code "${code}")
    string(REGEX REPLACE "[ \t\r\n]+" "" code "${code}")
    get_filename_component(name "${path}" NAME)
    string(APPEND all "${name}:${code}\n")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING "${hash}" 0 16 hash)
  set(${result} "${hash}" PARENT_SCOPE)
endfunction()

function(layard_kernel_hash isa result)
  if(NOT isa IN_LIST LAYARD_KERNEL_ISAS)
    message(FATAL_ERROR "unknown instruction set '${isa}'; known: ${LAYARD_KERNEL_ISAS}")
  endif()
  set(files ${LAYARD_KERNEL_FILES_SHARED} ${LAYARD_KERNEL_FILES_${isa}})
  list(TRANSFORM files PREPEND "${LAYARD_KERNELS_DIR}/")
  layard_code_hash(hash ${files})
  set(${result} "${hash}" PARENT_SCOPE)
endfunction()

function(layard_variant_hash isa variant result)
  layard_kernel_hash(${isa} code)
  string(SHA256 hash "${code}+${variant}")
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
