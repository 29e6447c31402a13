// Flight records as tests write them: pickles of what PyTorch's process groups dump.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kerf::testing_support {

/// Opcodes of a pickle of protocol 2.
inline std::string little(std::int32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += char((std::uint32_t(value) >> (8 * i)) & 0xFF);
  return bytes;
}
inline std::string pickled(std::string_view text) { return "X" + little(int(text.size())) + std::string(text); }
inline std::string pickled(int value) { return "J" + little(value); }
inline std::string listOf(const std::vector<std::string>& items) {
  std::string bytes = "](";
  for (const std::string& item : items) bytes += item;
  return bytes + "e";
}
inline std::string dictOf(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string bytes = "}(";
  for (const auto& [key, value] : items) bytes += pickled(key) + value;
  return bytes + "u";
}

inline std::string flight(int number, const std::string& op, int rows, const std::string& state,
                          bool isMessage = false) {
  return dictOf({{"record_id", pickled(number)},
                 {"process_group", pickled("0") + pickled("default_pg") + "\x86"},
                 {"collective_seq_id", pickled(number)},
                 {"profiling_name", pickled("nccl:" + op)},
                 {"input_sizes", listOf({listOf({pickled(rows), pickled(3)})})},
                 {"input_dtypes", listOf({pickled("Float")})},
                 {"state", pickled(state)},
                 {"is_p2p", isMessage ? "\x88" : "\x89"}});
}

inline void writePickle(const std::filesystem::path& file, const std::string& value) {
  std::ofstream(file, std::ios::binary) << "\x80\x02" << value << ".";
}

/// Files "nccl_trace_rank_N" of ranks with these entries.
inline std::filesystem::path flightFolder(const std::string& name, const std::vector<std::vector<std::string>>& ranks) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string config = dictOf(
      {{"0", dictOf({{"name", pickled("0")}, {"desc", pickled("default_pg")}, {"ranks", pickled("[0, 1, 2]")}})}});
  for (std::size_t r = 0; r < ranks.size(); ++r)
    writePickle(folder / fmt::format("nccl_trace_rank_{}", r),
                dictOf({{"version", pickled("2.4")}, {"pg_config", config}, {"entries", listOf(ranks[r])}}));
  return folder;
}

}  // namespace kerf::testing_support
