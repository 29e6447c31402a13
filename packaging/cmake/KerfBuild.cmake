# Compiler settings and the two functions that declare a folder: kerf_library and kerf_test.
include_guard(GLOBAL)
include(KerfUnity)

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")

add_compile_options(-Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)  # std::stable_sort of GCC's own library uses what that library calls deprecated
  add_compile_options(-Wno-deprecated-declarations)
endif()
if(KERF_WERROR)
  add_compile_options(-Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # GCC 12 guesses these after inlining; std::string alone makes it guess wrongly
    add_compile_options(-Wno-error=array-bounds -Wno-error=restrict -Wno-error=stringop-overflow)
  endif()
endif()
if(CMAKE_INTERPROCEDURAL_OPTIMIZATION)  # the linker sees all types: one name must be one type
  add_link_options(-Wodr -Werror=odr -Werror=lto-type-mismatch -Wno-tsan -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(KERF_SANITIZE)
  add_compile_options(-fsanitize=${KERF_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KERF_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)  # it would read what lies before a function, and compiled graphs have nothing there
    add_compile_options(-fno-sanitize=function)
  endif()
endif()
if(KERF_FUZZ)  # the coverage that fuzz targets watch; everywhere, because precompiled headers are shared
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(KERF_CCACHE ccache)
if(KERF_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${KERF_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-fpch-preprocess)
  endif()
endif()
# Not mold: 1.10, which Debian 12 has, may lay a thread-local variable on the page before the read-only data; such a program
# does not start ("cannot apply additional memory protection after relocation"), and the length of the path decides.
find_program(KERF_LLD ld.lld)
if(KERF_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# One precompiled header for all of Kerf, one more for the tests (with GoogleTest). Every target must keep the same code
# generation flags (no POSITION_INDEPENDENT_CODE here), or GCC refuses the precompiled header.
set(KERF_PCH <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <expected> <filesystem> <functional> <map>
    <memory> <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

# Where no time is spent while running (the command line, tests, importers, the minifier, the store) less optimising makes
# a clean build minutes shorter.
set(KERF_QUICK $<$<CONFIG:Release>:-O1>)

# Seconds for one test. Sanitized code is slow, and so is a machine that builds beside it.
set(KERF_TEST_TIMEOUT 300)
if(KERF_SANITIZE)
  set(KERF_TEST_TIMEOUT 900)
endif()

function(kerf_precompile target pch)
  if(NOT TARGET ${pch})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch/${pch}.cpp CONTENT "")  # written once: configuring again changes nothing
    add_library(${pch} OBJECT ${CMAKE_BINARY_DIR}/pch/${pch}.cpp)
    target_precompile_headers(${pch} PRIVATE ${KERF_PCH} ${ARGN})
    target_link_libraries(${pch} PRIVATE fmt::fmt)
    if(pch MATCHES test)
      target_link_libraries(${pch} PRIVATE GTest::gtest)
    endif()
    if(NOT pch STREQUAL kerf_pch)
      target_compile_options(${pch} PRIVATE ${KERF_QUICK})
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()

# kerf_vectorise(file…): inner loops that run over many elements. Errors of the maths library and floating-point traps are
# not used anywhere; values (NaN, infinities, signed zeros, order of sums) stay as written. Without the precompiled header,
# which belongs to the other flags.
function(kerf_vectorise)
  foreach(file ${ARGN})
    list(APPEND files ${CMAKE_SOURCE_DIR}/${file})
  endforeach()
  set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS
                              "$<$<CONFIG:Release,RelWithDebInfo>:-O3>;-fno-math-errno;-fno-trapping-math"
                              SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# kerf_library(name folder [EXCEPT folder] [QUICK] [WHOLE] DEPS …): every .cpp below `folder` as one static library, alias
# kerf::name. WHOLE: who links kerf::name gets all of its objects, also those that nothing names: they register themselves.
function(kerf_library name folder)
  cmake_parse_arguments(ARG "QUICK;WHOLE" "" "DEPS;EXCEPT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  foreach(except ${ARG_EXCEPT})
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/${except}/")
  endforeach()
  if(NOT sources)
    file(WRITE ${CMAKE_BINARY_DIR}/empty/${name}.cpp "")
    set(sources ${CMAKE_BINARY_DIR}/empty/${name}.cpp)
  endif()
  add_library(kerf_${name} STATIC ${sources})
  if(ARG_WHOLE)
    add_library(kerf_whole_${name} INTERFACE)
    target_link_libraries(kerf_whole_${name} INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,kerf_${name}>)
    add_library(kerf::${name} ALIAS kerf_whole_${name})
  else()
    add_library(kerf::${name} ALIAS kerf_${name})
  endif()
  target_include_directories(kerf_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(kerf_${name} PUBLIC ${ARG_DEPS})
  if(ARG_QUICK)
    target_compile_options(kerf_${name} PRIVATE ${KERF_QUICK})
    kerf_precompile(kerf_${name} kerf_quick_pch)
  else()
    kerf_precompile(kerf_${name} kerf_pch)
  endif()
  kerf_unity(kerf_${name})
endfunction()

# kerf_embed(target FILE HEADER FUNCTION NAMESPACE): the text of FILE as a function, which HEADER declares in NAMESPACE:
# kerf is one file that can be copied alone.
function(kerf_embed target file header function namespace)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${file})
  file(READ ${CMAKE_SOURCE_DIR}/${file} text)
  get_filename_component(name ${file} NAME_WE)
  set(source ${CMAKE_BINARY_DIR}/embedded/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"// ${file}, for one program without files beside it.
#include \"${header}\"

namespace ${namespace} {
std::string_view ${function}() {
  return R\"embedded(@text@)embedded\";
}
}  // namespace ${namespace}
")
  target_sources(${target} PRIVATE ${source})
endfunction()

# kerf_embed_files(target FOLDER HEADER FUNCTION NAMESPACE FILE…): files of FOLDER as a span of EmbeddedFile, by their names
# in it; kerf_embed() for what is more than one file.
function(kerf_embed_files target folder header function namespace)
  set(entries "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/${file})
    file(READ ${CMAKE_SOURCE_DIR}/${folder}/${file} text)
    string(APPEND entries "    {\"${file}\", R\"embedded(${text})embedded\"sv},\n")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/embedded/${function}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"// Files of ${folder}, for one program without files beside it.
#include \"${header}\"

namespace ${namespace} {
using namespace std::string_view_literals;  // no length is counted at compile time: texts are long
std::span<const EmbeddedFile> ${function}() {
  static constexpr EmbeddedFile files[] = {
@entries@  };
  return files;
}
}  // namespace ${namespace}
")
  target_sources(${target} PRIVATE ${source})
endfunction()

# kerf_test(name [TOGETHER] SOURCES … DEPS …): a GoogleTest executable. ctest runs each of its tests in a process of its own,
# or TOGETHER all of them in one: to start a process takes longer than most tests of the engine.
function(kerf_test name)
  cmake_parse_arguments(ARG "TOGETHER" "" "SOURCES;DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_SOURCES})
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE KERF_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    KERF_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_compile_options(${name} PRIVATE ${KERF_QUICK})
  kerf_precompile(${name} kerf_test_pch <gtest/gtest.h> <gmock/gmock.h> <nlohmann/json.hpp>)
  kerf_unity(${name})
  if(ARG_TOGETHER)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${KERF_TEST_TIMEOUT})
    return()
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 600 PROPERTIES TIMEOUT ${KERF_TEST_TIMEOUT})
endfunction()
