# The library, its headers and package files, the program, the starter checkpoint.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

layard_closure(evaluation LAYARD_OBJECTS LAYARD_LIBS)
add_library(layard SHARED ${LAYARD_OBJECTS})
add_library(layard::layard ALIAS layard)
layard_options(layard)
target_link_libraries(layard PRIVATE ${LAYARD_LIBS} Threads::Threads ${CMAKE_DL_LIBS})
target_sources(layard PUBLIC FILE_SET HEADERS
  BASE_DIRS ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include
  FILES ${PROJECT_SOURCE_DIR}/include/layard/answer.h
    ${PROJECT_SOURCE_DIR}/include/layard/benchmark.h
    ${PROJECT_SOURCE_DIR}/include/layard/cascade.h ${PROJECT_SOURCE_DIR}/include/layard/doctor.h
    ${PROJECT_SOURCE_DIR}/include/layard/error.h
    ${PROJECT_SOURCE_DIR}/include/layard/evaluation.h
    ${PROJECT_SOURCE_DIR}/include/layard/export.h ${PROJECT_SOURCE_DIR}/include/layard/layard.h
    ${PROJECT_SOURCE_DIR}/include/layard/model.h ${PROJECT_SOURCE_DIR}/include/layard/question.h
    ${PROJECT_SOURCE_DIR}/include/layard/router.h ${PROJECT_SOURCE_DIR}/include/layard/service.h
    ${PROJECT_SOURCE_DIR}/include/layard/tokenizer.h ${PROJECT_SOURCE_DIR}/include/layard/words.h
    ${PROJECT_BINARY_DIR}/include/layard/version.h)
# Before 1.0.0 a minor version may change what is declared (docs/stability.md): a program gets the
# one that it was built against, from CMake and from the loader alike.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(layard_compatibility SameMinorVersion)
  set(layard_soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
else()
  set(layard_compatibility SameMajorVersion)
  set(layard_soversion ${PROJECT_VERSION_MAJOR})
endif()
set_target_properties(layard PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${layard_soversion} VERIFY_INTERFACE_HEADER_SETS ON
  INSTALL_RPATH "$ORIGIN")

install(TARGETS layard EXPORT layard-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS layard_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT layard-targets NAMESPACE layard:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/layard)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/layard-config.cmake.in
  ${PROJECT_BINARY_DIR}/layard-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/layard)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/layard-config-version.cmake
  COMPATIBILITY ${layard_compatibility})
install(FILES ${PROJECT_BINARY_DIR}/layard-config.cmake
  ${PROJECT_BINARY_DIR}/layard-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/layard)
# From its own place, as the prefix may be chosen when it is installed.
file(RELATIVE_PATH LAYARD_PREFIX_FROM_PKGCONFIG "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(${PROJECT_SOURCE_DIR}/cmake/layard.pc.in ${PROJECT_BINARY_DIR}/layard.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/layard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/starter
  DESTINATION ${CMAKE_INSTALL_DATADIR}/layard/models)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/docs/layard.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# It names /usr/bin/layard: only the Debian package puts it where systemd finds it by itself.
install(FILES ${PROJECT_SOURCE_DIR}/packaging/layard.service
  DESTINATION ${CMAKE_INSTALL_DATADIR}/layard/systemd)
