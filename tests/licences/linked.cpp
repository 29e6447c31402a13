#include "tests/licences/linked.h"

#include <elf.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>

namespace kerf::licences {

namespace fs = std::filesystem;

namespace {

class Elf {
 public:
  explicit Elf(const fs::path& file) : m_name(file.string()) {
    std::ifstream stream(file, std::ios::binary);
    std::error_code none;
    const auto size = fs::file_size(file, none);
    m_bytes.resize(none ? 0 : size);
    stream.read(m_bytes.data(), std::streamsize(m_bytes.size()));
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) fail();
    for (unsigned i = 0; i < header.e_phnum; ++i)
      m_segments.push_back(at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)));
  }

  std::vector<std::string> needed() const {
    std::vector<std::size_t> names;
    std::size_t strings = 0;
    for (const auto& segment : m_segments) {
      if (segment.p_type != PT_DYNAMIC) continue;
      for (std::size_t offset = segment.p_offset;; offset += sizeof(Elf64_Dyn)) {
        const auto entry = at<Elf64_Dyn>(offset);
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
        if (entry.d_tag == DT_STRTAB) strings = offsetOf(entry.d_un.d_ptr);
      }
    }
    std::vector<std::string> needed;
    for (const std::size_t name : names) needed.emplace_back(textAt(strings + name));
    return needed;
  }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error(m_name + " is no ELF file of 64 bits"); }

  template <class T>
  T at(std::size_t offset) const {
    T value;
    if (offset + sizeof(T) > m_bytes.size()) fail();
    std::memcpy(&value, m_bytes.data() + offset, sizeof(T));
    return value;
  }

  std::string textAt(std::size_t offset) const {
    const auto end = m_bytes.find('\0', offset);
    if (end == std::string::npos) fail();
    return m_bytes.substr(offset, end - offset);
  }

  /// Place in the file of an address in memory.
  std::size_t offsetOf(std::size_t address) const {
    for (const auto& segment : m_segments)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address < segment.p_vaddr + segment.p_filesz)
        return address - segment.p_vaddr + segment.p_offset;
    fail();
  }

  std::string m_name, m_bytes;
  std::vector<Elf64_Phdr> m_segments;
};

/// Paths by name, as the loader finds them: lines "name => path (address)" and "path (address)".
std::map<std::string, fs::path> foundByLoader(const fs::path& file) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(("ldd '" + file.string() + "' 2>&1").c_str(), "r"),
                                                   ::pclose);
  if (!pipe) throw std::runtime_error("ldd does not start");
  std::string text;
  for (char buffer[4096]; const std::size_t size = std::fread(buffer, 1, sizeof buffer, pipe.get());)
    text.append(buffer, size);
  std::map<std::string, fs::path> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, path;
    words >> name >> arrow >> path;
    if (arrow == "=>" && path.starts_with('/')) found[name] = path;
    if (arrow != "=>" && name.starts_with('/')) found[fs::path(name).filename()] = name;
  }
  return found;
}

}  // namespace

std::vector<std::string> neededBy(const fs::path& file) { return Elf(file).needed(); }

std::map<std::string, std::vector<std::string>> loadedWith(const fs::path& file) {
  const auto found = foundByLoader(file);
  std::map<std::string, std::vector<std::string>> loaded;
  std::vector<std::pair<std::string, fs::path>> open{{file.filename(), file}};
  std::set<std::string> seen;
  while (!open.empty()) {
    const auto [name, path] = open.back();
    open.pop_back();
    if (!seen.insert(name).second) continue;
    for (const auto& library : neededBy(path)) {
      loaded[library].push_back(name);
      const auto place = found.find(library);
      if (place == found.end()) throw std::runtime_error("the loader does not find " + library + ", needed by " + name);
      open.emplace_back(library, place->second);
    }
  }
  return loaded;
}

std::vector<std::string> linkLineOf(const std::string& ninja, const std::string& target) {
  std::istringstream lines(ninja);
  std::vector<std::string> libraries;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("build ")) inside = line.starts_with("build " + target + ": ");
    if (!inside || !line.starts_with("  LINK_LIBRARIES = ")) continue;
    std::istringstream words(line.substr(line.find('=') + 1));
    for (std::string word; words >> word;)
      if (word.starts_with("-l") || (word.starts_with('/') && !word.starts_with(KERF_BINARY_DIR)))
        libraries.push_back(word);
  }
  return libraries;
}

std::string stemOf(const std::string& library) {
  if (library.starts_with("-l")) return "lib" + library.substr(2);
  const std::string name = fs::path(library).filename();
  const auto end = std::min(name.find(".so"), name.find(".a"));
  return name.substr(0, end);
}

}  // namespace kerf::licences
