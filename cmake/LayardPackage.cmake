# What scripts/package needs to know for CPack. The files themselves come from the tree that it
# stages with `cmake --install`, so that a package holds what an installation holds.
set(LAYARD_MAINTAINER "The Layard maintainers <layard@localhost>" CACHE STRING
  "Who is named as maintainer in the Debian package")
set(LAYARD_HOMEPAGE "" CACHE STRING "Address of the project for the Debian package; none if empty")

set(CPACK_PACKAGE_NAME layard)
set(CPACK_PACKAGE_VENDOR Layard)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_GENERATOR DEB)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${LAYARD_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "${LAYARD_HOMEPAGE}")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "typed decisions about texts: command, server, library")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Answers typed questions about a text (a choice, a score, yes or no), each
with a calibrated probability, by one forward pass of a Laya decision model
on the processor. Brings the checkpoint `starter`, a systemd unit for the
decision server, and what C++ programs need to build with it.")
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
# Which packages hold the libraries that the files need, from the files themselves.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Certificates of hubs, for `layard download`; nothing else needs them.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
# CPack itself adds the scripts that tell the loader's cache of the public library; there are no
# others.
include(CPack)
