# Turns files into C++ source, so that they are in the program.
#   As a module:
#     layard_embed(<out> HEADER <header> NAMESPACE <ns> FUNCTION <f> ROOT <dir> FILES f...)
#     adds a command that writes <out>, which defines `std::span<const Asset> <f>()` of <header>.
#   As a script (cmake -P): what that command runs.
# Byte arrays, not literals: compilers bound the length of a literal.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(source "// Written by cmake/LayardEmbed.cmake.\n#include \"${HEADER}\"\n\n")
  string(APPEND source "#include <array>\n\n")
  string(APPEND source "namespace ${NAMESPACE} {\nnamespace {\n\n")
  set(index 0)
  set(rows)
  string(REPLACE "|" ";" FILES "${FILES}")
  foreach(file IN LISTS FILES)
    file(READ ${ROOT}/${file} hex HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
    # A closing zero: an empty file still is an array.
    string(APPEND source "constexpr char kFile${index}[] = {${bytes}'\\0'};\n")
    string(APPEND rows "    {\"${file}\", {kFile${index}, sizeof(kFile${index}) - 1}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  string(APPEND source "\nconstexpr std::array<Asset, ${index}> kAssets = {{\n${rows}}};\n\n")
  string(APPEND source "}  // namespace\n\n")
  string(APPEND source "std::span<const Asset> ${FUNCTION}() { return kAssets; }\n\n")
  string(APPEND source "}  // namespace ${NAMESPACE}\n")
  file(WRITE ${OUT} "${source}")
  return()
endif()

include_guard()
set(LAYARD_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(layard_embed out)
  cmake_parse_arguments(EMBED "" "HEADER;NAMESPACE;FUNCTION;ROOT" "FILES" ${ARGN})
  set(depends)
  foreach(file IN LISTS EMBED_FILES)
    list(APPEND depends ${EMBED_ROOT}/${file})
  endforeach()
  string(REPLACE ";" "|" files "${EMBED_FILES}")
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DHEADER=${EMBED_HEADER} -DNAMESPACE=${EMBED_NAMESPACE}
            -DFUNCTION=${EMBED_FUNCTION} -DROOT=${EMBED_ROOT} "-DFILES=${files}"
            -P ${LAYARD_EMBED_SCRIPT}
    DEPENDS ${depends} ${LAYARD_EMBED_SCRIPT} VERBATIM)
endfunction()
