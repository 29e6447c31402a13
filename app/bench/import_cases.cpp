// Benchmarks of opening large captures. The 200 MB log and the 2 GB archive are made from recordings, in a private
// folder.
#include "app/bench/import_cases.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "engine/capture/common/capture.h"
#include "engine/process/program.h"
#include "engine/process/temporary_folder.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/zip_directory.h"
#include "engine/tensor/zip_writer.h"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t bigLogBytes = 200LL << 20;
constexpr std::int64_t bigWeightBytes = 2LL << 30;

/// A file in a folder of its own that goes when nobody holds it any more.
struct MadeFile {
  TemporaryFolder folder;
  fs::path path;
};

Result<BenchWork> openingOf(const fs::path& path, std::shared_ptr<MadeFile> made) {
  return BenchWork([path, made]() -> Result<void> {
    KERF_CHECK(importCapture(path));
    return {};
  });
}

Result<BenchWork> prepareOpen(const fs::path& path) { return openingOf(path, nullptr); }

std::vector<fs::path> logsBelow(const fs::path& folder) {
  std::set<fs::path> logs;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".log" && entry.path().filename().string().starts_with("dedicated_log"))
      logs.insert(entry.path());
  }
  return {logs.begin(), logs.end()};
}

/// One line of a log with its frame ids shifted, so that no two copies share a compile id.
void appendShifted(std::string& out, std::string_view line, std::int64_t shift) {
  constexpr std::string_view key = "\"frame_id\": ";
  const auto found = line.starts_with('V') ? line.find(key) : std::string_view::npos;
  if (found == std::string_view::npos) {
    out += line;
    return;
  }
  const auto begin = found + key.size();
  auto end = begin;
  std::int64_t number = 0;
  for (; end < line.size() && line[end] >= '0' && line[end] <= '9' && number < 1'000'000; ++end)
    number = number * 10 + (line[end] - '0');
  out += line.substr(0, begin);
  if (end > begin) out += std::to_string(number + shift);
  out += line.substr(end);
}

Result<std::shared_ptr<MadeFile>> makeBigLog(const fs::path& traces) {
  const auto logs = logsBelow(traces);
  if (logs.empty()) return fail(ErrorCode::NotFound, "{} holds no logs", traces.string());
  KERF_TRY(auto folder, TemporaryFolder::create());
  auto made = std::make_shared<MadeFile>(MadeFile{std::move(folder), {}});
  made->path = made->folder.path() / "dedicated_log_torch_trace_rank_0_big.log";
  std::ofstream stream(made->path, std::ios::binary);
  std::int64_t written = 0;
  for (std::size_t copy = 0; written < bigLogBytes; ++copy) {
    KERF_TRY(const auto bytes, mapFile(logs[copy % logs.size()]));
    std::string_view text(reinterpret_cast<const char*>(bytes->data()), std::size_t(bytes->bytes()));
    std::string shifted;
    while (!text.empty()) {
      const auto length = std::min(text.find('\n'), text.size() - 1) + 1;
      appendShifted(shifted, text.substr(0, length), std::int64_t(copy) * 1000);
      text.remove_prefix(length);
    }
    stream << shifted;
    written += std::ssize(shifted);
  }
  if (!stream.flush()) return fail(ErrorCode::Environment, "cannot write {}", made->path.string());
  return made;
}

/// Made once per process: the case and the program beside it read the same file.
Result<std::shared_ptr<MadeFile>> bigLog(const fs::path& traces) {
  static std::weak_ptr<MadeFile> kept;
  if (auto made = kept.lock()) return made;
  KERF_TRY(auto made, makeBigLog(traces));
  kept = made;
  return made;
}

Result<BenchWork> prepareBigLog(const fs::path& traces) {
  KERF_TRY(auto made, bigLog(traces));
  return openingOf(made->path, made);
}

/// Python that merely reads the log line by line and parses the JSON of its headers.
Result<BenchWork> pythonReads(const fs::path& path, std::shared_ptr<MadeFile> made) {
  const auto python = findProgram("python3");
  if (python.empty()) return fail(ErrorCode::Environment, "python3 is not here");
  constexpr const char* script =
      "import json, sys\n"
      "for line in open(sys.argv[1], encoding='utf-8', errors='replace'):\n"
      "    if line.startswith('V'):\n"
      "        json.loads(line[line.index('] ') + 2:])\n";
  return BenchWork([python, path, made]() -> Result<void> {
    KERF_TRY(const auto result,
             runProgram({python.string(), "-c", script, path.string()}, {}, std::chrono::minutes(5)));
    if (result.status == 0) return {};
    return fail(ErrorCode::Environment, "python3 failed: {}", result.errors);
  });
}

Result<BenchWork> pythonLog(const fs::path& log) { return pythonReads(log, nullptr); }

Result<BenchWork> pythonBigLog(const fs::path& traces) {
  KERF_TRY(auto made, bigLog(traces));
  return pythonReads(made->path, made);
}

struct Member {
  std::string name, bytes;
};

Result<std::vector<Member>> membersOf(const fs::path& path) {
  KERF_TRY(const auto archive, mapFile(path));
  KERF_TRY(const auto directory, ZipDirectory::read(archive->view(), 1000));
  std::vector<Member> members;
  for (const auto& member : directory.members()) {
    KERF_TRY(auto bytes, directory.read(member, 64LL << 20));
    members.push_back({std::string(member.name), std::move(bytes)});
  }
  return members;
}

/// The first weight of the "mlp" recording, grown to 2 GB: float32 [33554432, 16].
void growWeight(Member& member) {
  auto object = nlohmann::json::parse(member.bytes, nullptr, false);
  const auto grow = [](nlohmann::json& meta) { meta["sizes"][0]["as_int"] = bigWeightBytes / 64; };
  if (member.name.ends_with("model_weights_config.json")) grow(object["config"]["0.weight"]["tensor_meta"]);
  if (member.name.ends_with("models/model.json")) grow(object["graph_module"]["graph"]["tensor_values"]["p_0_weight"]);
  member.bytes = object.dump();
}

std::uint32_t checksumOfZeros(std::int64_t bytes) {
  const std::array<Bytef, 1024> zeros{};
  auto sum = crc32(0, zeros.data(), zeros.size());
  for (std::int64_t done = zeros.size(); done < bytes; done *= 2) sum = crc32_combine(sum, sum, done);
  return std::uint32_t(sum);
}

/// Writes members; the grown weight becomes a hole in the file, so nothing of its 2 GB is on disk.
Result<void> writeSparse(const fs::path& path, std::vector<Member>& members) {
  const auto mapped = std::shared_ptr<void>(
      mmap(nullptr, bigWeightBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
      [](void* memory) { munmap(memory, bigWeightBytes); });
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || mapped.get() == MAP_FAILED) return fail(ErrorCode::Environment, "cannot write {}", path.string());
  const auto* zeros = static_cast<const std::byte*>(mapped.get());
  ZipWriter writer([&](std::span<const std::byte> bytes) -> Result<void> {
    const bool hole = bytes.data() == zeros && !bytes.empty();
    const bool done = hole ? lseek(file, std::ssize(bytes), SEEK_CUR) >= 0
                           : write(file, bytes.data(), bytes.size()) == std::ssize(bytes);
    return done ? Result<void>() : fail(ErrorCode::Environment, "cannot write {}", path.string());
  });
  Result<void> outcome;
  for (auto& member : members) {
    if (!outcome) break;
    if (member.name.ends_with(".json")) growWeight(member);
    const bool big = member.name.ends_with("/weight_0");
    outcome = big ? writer.add(member.name, {zeros, std::size_t(bigWeightBytes)}, checksumOfZeros(bigWeightBytes))
                  : writer.add(member.name, std::string_view(member.bytes));
  }
  if (outcome) outcome = writer.finish();
  close(file);
  return outcome;
}

Result<BenchWork> prepareBigArchive(const fs::path& small) {
  KERF_TRY(auto members, membersOf(small));
  KERF_TRY(auto folder, TemporaryFolder::create());
  auto made = std::make_shared<MadeFile>(MadeFile{std::move(folder), {}});
  made->path = made->folder.path() / "big.pt2";
  KERF_CHECK(writeSparse(made->path, members));
  KERF_TRY(const auto capture, importCapture(made->path));
  const auto big = [](const StorageRef& storage) { return storage.bytes == bigWeightBytes; };
  if (capture.graphs.empty() || !std::ranges::any_of(capture.graphs.front().storages, big))
    return fail(ErrorCode::Internal, "the archive that was made does not hold the weight of 2 GB");
  return openingOf(made->path, made);
}

}  // namespace

std::vector<BenchCase> importBenchCases() {
  const std::string log = "traces/convnext_seed/dedicated_log_torch_trace_3_asr7uc.log";
  return {
      {"import_trace_7mb", "a TORCH_TRACE log of 7 MB", 150, log, prepareOpen, pythonLog},
      {"import_trace_200mb", "the recorded logs, 200 MB under distinct compile ids", 3000, "traces", prepareBigLog,
       pythonBigLog},
      {"import_pt2_2gb", "a .pt2 with a weight of 2 GB", 1000, "golden/mlp/model.pt2", prepareBigArchive, nullptr},
  };
}

}  // namespace kerf::bench
