// pointersTo(): texts as exec() and posix_spawn() take them.
#pragma once

#include <string>
#include <vector>

namespace kerf::inline process {

/// Valid as long as the texts are; with a null pointer at the end. Nothing is written through them.
inline std::vector<char*> pointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace kerf::inline process
