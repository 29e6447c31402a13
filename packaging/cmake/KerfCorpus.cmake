# The recordings that tests and `kerf bench` read: tests/data/corpus is unpacked into the build folder whenever its archives
# change, and engine/support/recordings.cpp learns where they are.
include_guard(GLOBAL)

set(KERF_CORPUS_SLICE ${CMAKE_BINARY_DIR}/corpus)

function(kerf_unpack_corpus)
  file(GLOB archives CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/data/corpus/*.tar.xz)
  set(contents "")
  foreach(archive ${archives})
    file(SHA256 ${archive} hash)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${archive})
    string(APPEND contents "${hash} ${archive}\n")
  endforeach()
  set(unpacked "")
  if(EXISTS ${KERF_CORPUS_SLICE}/contents)
    file(READ ${KERF_CORPUS_SLICE}/contents unpacked)
  endif()
  if(contents STREQUAL unpacked)
    return()
  endif()
  file(REMOVE_RECURSE ${KERF_CORPUS_SLICE})
  foreach(archive ${archives})
    file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${KERF_CORPUS_SLICE})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${archive})
  endforeach()
  file(WRITE ${KERF_CORPUS_SLICE}/contents "${contents}")
endfunction()

if(KERF_TESTS)
  kerf_unpack_corpus()
endif()
set_source_files_properties(engine/support/recordings.cpp PROPERTIES COMPILE_DEFINITIONS
  "KERF_CORPUS_SLICE=\"${KERF_CORPUS_SLICE}\";KERF_WHOLE_CORPUS=\"${CMAKE_SOURCE_DIR}/../shared/corpus\"")
