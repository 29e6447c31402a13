# `cmake --install` and `cpack -G DEB`: programs, samples, documents, desktop entry.
include_guard(GLOBAL)
include(GNUInstallDirs)

if(TARGET kerf)
  install(TARGETS kerf RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET kerf-studio)
  install(TARGETS kerf-studio RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES packaging/desktop/kerf-studio.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
endif()
install(DIRECTORY resources/samples DESTINATION ${CMAKE_INSTALL_DATADIR}/kerf)
install(DIRECTORY resources/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}/resources)  # as in the sources, for the links
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kerf)
set(CPACK_PACKAGE_CONTACT "Kerf maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Graph debugger and minifier for PyTorch compiler graphs")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS graphviz)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)
