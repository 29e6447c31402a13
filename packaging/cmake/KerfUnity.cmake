# Several small files compiled as one: headers are read, and their templates instantiated, once per group. A clean build is
# three times as fast; a change compiles its whole group, so `--preset dev` builds file by file (KERF_UNITY=OFF).
#
# unity_groups.txt says which files go together. Nothing is read out of the sources: a file that grows stays in its group,
# a new one is compiled alone until packaging/unity_groups.py is run, and two files of a group that declare a name alike
# are an error of the compiler.
include_guard(GLOBAL)

option(KERF_UNITY "Compile small files in groups" ON)
if(KERF_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(-Wno-subobject-linkage)  # GCC takes the files of a group for headers
endif()

set(KERF_UNITY_LIST ${CMAKE_SOURCE_DIR}/packaging/cmake/unity_groups.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KERF_UNITY_LIST})
file(STRINGS ${KERF_UNITY_LIST} lines REGEX "^[^#]")
foreach(line ${lines})
  string(REPLACE " " ";" pair "${line}")
  list(GET pair 0 source)
  list(GET pair 1 group)
  set(KERF_UNITY_GROUP_${source} ${group})
endforeach()

# kerf_unity(target): compiles those of its sources as one that the list puts into one group. Those with flags of their own
# stay alone. Leaves the sources where unity_groups.py looks for them.
function(kerf_unity target)
  if(NOT KERF_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/.*\\.cpp$")
  set(shared "")
  foreach(source ${sources})
    get_source_file_property(own ${source} COMPILE_OPTIONS)
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(own OR alone)
      continue()
    endif()
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${source})
    string(APPEND shared "${path}\n")
    if(DEFINED KERF_UNITY_GROUP_${path} AND NOT KERF_UNITY_GROUP_${path} STREQUAL "alone")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${KERF_UNITY_GROUP_${path}})
    else()
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/unity/${target}.txt "${shared}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
