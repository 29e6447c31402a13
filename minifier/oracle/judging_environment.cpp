// Build id and variables.
#include "minifier/oracle/judging_environment.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "engine/support/hash.h"

namespace kerf::inline minifier::inline oracle {

namespace {

constexpr std::string_view prefixes[] = {"PYTHON", "TORCH",     "PYTORCH", "CUDA", "INDUCTOR", "TRITON", "AOT",
                                         "NVIDIA", "HIP",       "ROCR",    "MKL_", "OMP_",     "KMP_",   "DNNL_",
                                         "ONEDNN", "OPENBLAS_", "ATEN_",   "LD_",  "GOMP_"};
constexpr std::string_view names[] = {"PATH", "CC",     "CXX",         "CFLAGS",      "CXXFLAGS",
                                      "LANG", "LC_ALL", "VIRTUAL_ENV", "CONDA_PREFIX"};

bool matters(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  if (name.ends_with("CACHE_DIR") || name == "TORCH_LOGS" || name == "TORCH_TRACE") return false;
  return std::ranges::find(names, name) != std::end(names) ||
         std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Notes are a header, the owner's name and the description, each padded to four bytes.
std::string buildIdIn(std::span<const char> notes) {
  const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t(3); };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof head);
    const std::size_t name = sizeof head, description = name + padded(head.n_namesz);
    if (description + head.n_descsz > notes.size()) break;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      std::string id;
      for (std::size_t i = 0; i < head.n_descsz; ++i)
        id += fmt::format("{:02x}", static_cast<unsigned char>(notes[description + i]));
      return id;
    }
    notes = notes.subspan(std::min(notes.size(), description + padded(head.n_descsz)));
  }
  return {};
}

/// The first object is the program itself.
int readBuildId(dl_phdr_info* info, std::size_t, void* found) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* bytes = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    auto& id = *static_cast<std::string*>(found);
    if (id.empty()) id = buildIdIn({bytes, header.p_memsz});
  }
  return 1;
}

std::string findProgramIdentity() {
  std::string id;
  ::dl_iterate_phdr(readBuildId, &id);
  if (!id.empty()) return id;
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return hashText(content.str()).hex();
}

}  // namespace

std::string programIdentity() {
  static const std::string id = findProgramIdentity();
  return id;
}

std::string environmentIdentity() {
  std::vector<std::string_view> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (matters(*variable)) variables.emplace_back(*variable);
  std::ranges::sort(variables);
  std::string all;
  for (const std::string_view variable : variables) all += std::string(variable) + '\0';
  return hashText(all).hex();
}

}  // namespace kerf::inline minifier::inline oracle
