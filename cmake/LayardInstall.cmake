# The library, its headers and package files, the program, the starter checkpoint.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

layard_closure(runtime LAYARD_OBJECTS LAYARD_LIBS)
add_library(layard SHARED ${LAYARD_OBJECTS})
add_library(layard::layard ALIAS layard)
layard_options(layard)
target_link_libraries(layard PRIVATE ${LAYARD_LIBS} Threads::Threads ${CMAKE_DL_LIBS})
target_sources(layard PUBLIC FILE_SET HEADERS
  BASE_DIRS ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include
  FILES ${PROJECT_SOURCE_DIR}/include/layard/answer.h
    ${PROJECT_SOURCE_DIR}/include/layard/benchmark.h ${PROJECT_SOURCE_DIR}/include/layard/error.h
    ${PROJECT_SOURCE_DIR}/include/layard/export.h ${PROJECT_SOURCE_DIR}/include/layard/layard.h
    ${PROJECT_SOURCE_DIR}/include/layard/model.h ${PROJECT_SOURCE_DIR}/include/layard/question.h
    ${PROJECT_SOURCE_DIR}/include/layard/tokenizer.h ${PROJECT_BINARY_DIR}/include/layard/version.h)
set_target_properties(layard PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR} VERIFY_INTERFACE_HEADER_SETS ON
  INSTALL_RPATH "$ORIGIN")

install(TARGETS layard EXPORT layard-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS layard_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT layard-targets NAMESPACE layard:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/layard)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/layard-config.cmake.in
  ${PROJECT_BINARY_DIR}/layard-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/layard)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/layard-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/layard-config.cmake
  ${PROJECT_BINARY_DIR}/layard-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/layard)
configure_file(${PROJECT_SOURCE_DIR}/cmake/layard.pc.in ${PROJECT_BINARY_DIR}/layard.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/layard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/starter
  DESTINATION ${CMAKE_INSTALL_DATADIR}/layard/models)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
