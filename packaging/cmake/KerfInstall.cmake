# `cmake --install` and `cpack`: programs, samples, documents, manual pages, completions, desktop entry, file types. Two
# packages: kerf, which runs without a window, and kerf-studio.
include_guard(GLOBAL)
include(GNUInstallDirs)

if(TARGET kerf)
  install(TARGETS kerf RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT kerf)
  # Manual pages and completions come from the program's own tables.
  install(CODE "set(kerf_program \"$<TARGET_FILE:kerf>\")\nset(kerf_about \"${CMAKE_BINARY_DIR}/about\")" COMPONENT kerf)
  install(SCRIPT packaging/cmake/DescribeProgram.cmake COMPONENT kerf)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/about/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT kerf FILES_MATCHING PATTERN "*.1.gz")
  install(FILES ${CMAKE_BINARY_DIR}/about/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kerf
          COMPONENT kerf)
  install(FILES ${CMAKE_BINARY_DIR}/about/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _kerf
          COMPONENT kerf)
  install(FILES ${CMAKE_BINARY_DIR}/about/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME kerf.fish
          COMPONENT kerf)
  install(FILES packaging/desktop/kerf.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages COMPONENT kerf)
  install(DIRECTORY resources/samples DESTINATION ${CMAKE_INSTALL_DATADIR}/kerf COMPONENT kerf)
  install(DIRECTORY resources/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}/resources COMPONENT kerf)  # as in the sources, for the links
  install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR}
          COMPONENT kerf)
  install(FILES packaging/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kerf COMPONENT kerf)
endif()
if(TARGET kerf_mpi)
  install(TARGETS kerf_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/kerf)
endif()
if(TARGET kerf-studio)
  install(TARGETS kerf-studio RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT studio)
  install(FILES packaging/desktop/kerf-studio.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT studio)
  install(FILES packaging/desktop/org.kerf.Studio.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo COMPONENT studio)
  install(FILES resources/icons/kerf.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps COMPONENT studio)
  install(FILES ${CMAKE_BINARY_DIR}/about/kerf-studio.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT studio)
  install(FILES packaging/debian/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kerf-studio COMPONENT studio)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kerf)
set(CPACK_PACKAGE_CONTACT "Kerf maintainers <maintainers@kerf.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Graph debugger and minifier for PyTorch compiler graphs")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL kerf studio)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_KERF_PACKAGE_NAME kerf)
set(CPACK_DEBIAN_KERF_PACKAGE_RECOMMENDS graphviz)
set(CPACK_DEBIAN_KERF_PACKAGE_SUGGESTS "kerf-studio, python3")
set(CPACK_COMPONENT_KERF_DESCRIPTION
    "opens the graphs that torch.compile and torch.export leave behind, shows what each pass did to them, finds where a result\n goes wrong, and cuts the failing graph down to the smallest file that still fails.")
set(CPACK_DEBIAN_STUDIO_PACKAGE_NAME kerf-studio)
set(CPACK_DEBIAN_STUDIO_PACKAGE_DEPENDS "kerf (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_STUDIO_PACKAGE_RECOMMENDS "graphviz, libqt6svg6")
set(CPACK_COMPONENT_STUDIO_DESCRIPTION "the window of Kerf: graphs, stages, values, differences and reductions.")
include(CPack)
