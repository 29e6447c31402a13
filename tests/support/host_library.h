// A library of C++ text for tests, by the compiler that made them. What many texts begin with is compiled once, and a
// library once for all test processes of a build folder: ctest gives each test a process of its own.
#pragma once

#include <dlfcn.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "engine/process/program.h"
#include "engine/support/hash.h"

namespace kerf::testing_support {

/// Runs the compiler with the flags of every library; fails with what it prints.
inline Result<void> compileOnHost(std::vector<std::string> more) {
  std::vector<std::string> command{KERF_CXX,
                                   "-std=c++20",
                                   "-O1",
                                   "-ffp-contract=off",
                                   "-fno-strict-aliasing",
                                   "-fno-gnu-unique",
                                   "-fvisibility=hidden",
                                   "-w",
                                   "-fPIC"};
  command.insert(command.end(), more.begin(), more.end());
  KERF_TRY(const auto ran, runProgram(command, "", std::chrono::seconds(120)));
  if (ran.status != 0) return fail(ErrorCode::CompileFailed, "{}\n{}", ran.output, ran.errors);
  return {};
}

inline std::filesystem::path hostLibraries() { return std::filesystem::path(KERF_BINARY_DIR) / "host_libraries"; }

/// A file of this text beside `path`, that no other process writes.
inline std::filesystem::path ownFile(std::filesystem::path path, const std::string& ending, const std::string& text) {
  std::filesystem::create_directories(hostLibraries());
  path += fmt::format(".{}{}", ::getpid(), ending);
  std::ofstream(path) << text;
  return path;
}

/// The header of this text, precompiled. Both files are whole once they are there: they come by renaming.
inline Result<std::filesystem::path> precompiledOnHost(const std::string& text) {
  const auto header = hostLibraries() / (hashText(text).hex() + ".h");
  const auto compiled = std::filesystem::path(header) += ".gch";
  if (std::filesystem::exists(compiled)) return header;
  const auto source = ownFile(header, ".h", text), result = ownFile(header, ".gch", "");
  KERF_CHECK(compileOnHost({"-x", "c++-header", source.string(), "-o", result.string()}));
  std::filesystem::rename(source, header);
  std::filesystem::rename(result, compiled);
  return header;
}

/// The library of `prelude`, which many libraries begin with, and `text`. Whoever opens it may close it.
inline Result<void*> openedLibrary(const std::string& prelude, const std::string& text) {
  const auto library = hostLibraries() / (hashText(prelude + text).hex() + ".so");
  if (!std::filesystem::exists(library)) {
    KERF_TRY(const auto header, precompiledOnHost(prelude));
    const auto source = ownFile(library, ".cpp", fmt::format("#include \"{}\"\n{}", header.string(), text));
    const auto result = ownFile(library, ".so", "");
    KERF_CHECK(compileOnHost({"-shared", source.string(), "-o", result.string()}));
    std::filesystem::remove(source);
    std::filesystem::rename(result, library);
  }
  void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return fail(ErrorCode::Internal, "{}", dlerror());
  return opened;
}

}  // namespace kerf::testing_support
