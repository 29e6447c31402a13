// What a program is linked with: names in its dynamic section, and, of what the loader finds for them, the same again.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kerf::licences {

/// DT_NEEDED of an ELF file of 64 bits, in order. Throws std::runtime_error for what is no such file.
std::vector<std::string> neededBy(const std::filesystem::path& file);

/// Each library that is loaded with `file`, by name ("libz.so.1"), with the names of those that need it; `file` stands
/// there by its file name. The loader says where the libraries are.
std::map<std::string, std::vector<std::string>> loadedWith(const std::filesystem::path& file);

/// Libraries outside of the build folder in the link line of a target ("bin/kerf") of build.ninja: "/usr/lib/libz.so",
/// "-ldl".
std::vector<std::string> linkLineOf(const std::string& ninja, const std::string& target);

/// "libz" of "libz.so.1", "/usr/lib/libz.a" or "-lz".
std::string stemOf(const std::string& library);

}  // namespace kerf::licences
