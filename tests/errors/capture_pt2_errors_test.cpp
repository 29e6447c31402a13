// Archives that lie, bomb and attack: every one is refused in bounded time and memory, and nothing in them is run.
#include <sys/resource.h>

#include "engine/capture/pt2/archive.h"
#include "engine/capture/pt2/import.h"
#include "engine/capture/pt2/pickle.h"
#include "engine/tensor/zip_inflate.h"
#include "engine/tensor/zip_writer.h"
#include "tests/support/cpu_time.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using testing::TemporaryFolder;

std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

fs::path seed(const std::string& name) { return fs::path(KERF_SOURCE_DIR) / "tests" / "fuzz" / "seeds" / "pt2" / name; }

using Members = std::vector<std::pair<std::string, std::string>>;

/// A zip with these members below "m/", stored.
std::string archive(const Members& members) {
  std::string file;
  ZipWriter zip([&](std::span<const std::byte> bytes) -> Result<void> {
    file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  });
  for (const auto& [name, content] : members) EXPECT_TRUE(zip.add("m/" + name, std::string_view(content)).has_value());
  EXPECT_TRUE(zip.finish().has_value());
  return file;
}

/// A program that returns relu of its input, with the given text in place of its tensor_values object.
std::string program(const std::string& tensorValues) {
  return R"({"graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "relu"}}], )"
         R"("nodes": [{"target": "torch.ops.aten.relu.default", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}], )"
         R"("outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}}], "tensor_values": )" +
         tensorValues +
         R"(}, "signature": {"input_specs": [{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}], "output_specs": )"
         R"([{"user_output": {"arg": {"as_tensor": {"name": "relu"}}}}]}, "module_call_graph": []}, "schema_version": {"major": 8, "minor": 17}})";
}

Members membersWith(const std::string& json) { return {{"archive_format", "pt2"}, {"models/model.json", json}}; }

Result<Capture> imported(const std::string& file, const ImportLimits& limits = {}) {
  return pt2::importPt2Bytes(bytesOf(file), "attack.pt2", limits);
}

void expectRefused(const Result<Capture>& capture, std::string_view words, const std::string& what) {
  ASSERT_FALSE(capture.has_value()) << what;
  EXPECT_EQ(exitCode(capture.error().code), 2) << what;
  EXPECT_NE(capture.error().message.find(words), std::string::npos) << what << ": " << capture.error().text();
  EXPECT_FALSE(capture.error().file.empty()) << what;
}

TEST(Pt2Errors, RefusesArchivesThatLie) {
  const std::pair<const char*, const char*> cases[] = {{"traversal.pt2", "leaves its folder"},
                                                       {"absolute.pt2", "absolute name"},
                                                       {"backslash.pt2", "backslash"},
                                                       {"nul_name.pt2", "NUL"},
                                                       {"overlap.pt2", "disagree"},
                                                       {"lying_size.pt2", "outside the file"},
                                                       {"twice.pt2", "twice"},
                                                       {"truncated.pt2", "no end record"},
                                                       {"truncated_end.pt2", "no end record"},
                                                       {"zip64_count.pt2", "zip64 record"},
                                                       {"zip64_missing.pt2", "64-bit sizes"},
                                                       {"deep.pt2", "nested deeper than 200"},
                                                       {"undefined.pt2", "no earlier node"},
                                                       {"defined_twice.pt2", "defined twice"},
                                                       {"bad_target.pt2", "names no operator"},
                                                       {"huge_tensor.pt2", "cannot be"},
                                                       {"short_weight.pt2", "reaches beyond"},
                                                       {"big_endian.pt2", "byte order"},
                                                       {"aoti_only.pt2", "no exported program"},
                                                       {"major9.pt2", "schema 9.0"}};
  for (const auto& [name, words] : cases) expectRefused(importPt2(seed(name), {}, {}), words, name);
}

TEST(Pt2Errors, RefusesMembersThatOverlapExactly) {
  std::string file = archive(membersWith(program("{}")));
  // Both directory entries name the first member: one stretch of bytes under the same name.
  const std::size_t first = file.find("PK\x01\x02"), second = file.find("PK\x01\x02", first + 4);
  const std::size_t length = second - first;
  const std::size_t end = file.find("PK\x05\x06");
  const std::string entry = file.substr(first, length);
  file.replace(second, end - second, entry);
  const auto size = std::uint32_t(2 * length);
  const std::size_t record = second + length;
  for (int i = 0; i < 4; ++i) file[record + 12 + std::size_t(i)] = char(size >> (8 * i));
  expectRefused(imported(file), "overlap", "overlap");
}

TEST(Pt2Errors, NeverRunsPickles) {
  const fs::path mark = "/tmp/kerf_was_here";
  std::error_code ignored;
  fs::remove(mark, ignored);
  for (const char* name : {"evil_sample.pt2", "evil_weight.pt2"}) {
    const auto capture = importPt2(seed(name), {}, {});
    ASSERT_TRUE(capture.has_value()) << capture.error().text();  // the graph is good, the data are not used
    EXPECT_NE(capture->notes.at(0).find("os.system"), std::string::npos) << capture->notes.at(0);
    EXPECT_TRUE(capture->graphs[0].loadInputs(false, nullptr).has_value());
    EXPECT_FALSE(fs::exists(mark));
  }
}

TEST(Pt2Errors, ReadsPicklesOfTensorsOnly) {
  const std::string longText = "X\x2c\x01\0\0"s + std::string(300, 'n');  // every tensor would hold a copy
  const std::pair<std::string, const char*> bad[] = {
      {"\x80\x02"s + "cos\nsystem\n(X\x02\0\0\0idtR."s, "os.system"},
      {"\x80\x02"s + "c__builtin__\neval\n."s, "eval"},
      {"\x80\x02"s + "i"s + "os\nsystem\n."s, "opcode 0x69"},
      {"\x80\x04\x8c\x08"s + "builtins\x8c\x04"s + "exec\x93."s, "exec"},
      {"\x80\x02)."s.substr(0, 3), "cut off"},
      {"\x80\x02(t"s, "cut off"},
      {"\x80\x02t."s, "never opened"},
      {"\x80\x02R."s, "more values than it has"},
      {"\x80\x02h\x05."s, "never kept"},
      {"\x80\x02)a."s, "not a container"},
      {"\x80\x02X\xff\xff\xff\xffx."s, "cut off"},
      {"\x80\x02\x8a\x09\1\1\1\1\1\1\1\1\1."s, "64 bits"},
      {"\x80\x09."s, "protocol 9"},
      {"\x80\x02"s + "ctorch._utils\n_rebuild_tensor_v2\n)R."s, "too few"},
      {"\x80\x02"s + "ctorch\nFloatStorage\n)R."s, "not a tensor"},
      {"\x80\x02)Q."s, "too few"},
      {"\x80\x02"s + "ctorch\ndevice\n" + longText + "\x85R.", "no device"},
      {"\x80\x02(X\7\0\0\0storage"s + "ctorch\nFloatStorage\n" + longText + "X\3\0\0\0cpuK\1tQ."s, "no proper name"}};
  for (const auto& [text, words] : bad) {
    const auto pickle = pt2::readPickle(bytesOf(text), 1000);
    ASSERT_FALSE(pickle.has_value()) << words;
    EXPECT_NE(pickle.error().message.find(words), std::string::npos) << words << ": " << pickle.error().message;
  }
  EXPECT_TRUE(pt2::readPickle(bytesOf("\x80\x02(]q\0h\0aG\x3f\xf0\0\0\0\0\0\0\x88t."s), 1000).has_value());
  EXPECT_FALSE(pt2::readPickle(bytesOf("\x80\x02" + std::string(5000, ')') + "."), 1000).has_value());
}

TEST(Pt2Errors, RefusesNestingAtAnyDepth) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += open;
    expectRefused(imported(archive(membersWith(deep))), *open == '{' ? "nested deeper" : "expected", "unbalanced");
    expectRefused(imported(archive(membersWith(program(deep)))), "nested deeper", "inside a program");
  }
}

long peakKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Pt2Errors, TenMillionTensorValuesCostNeitherTimeNorMemory) {
  std::string values = "{";
  values.reserve(200'000'000);
  for (int i = 0; i < 10'000'000; ++i) values += fmt::format("{}\"v{}\":{{}}", i == 0 ? "" : ",", i);
  values += "}";
  const std::string file = archive(membersWith(program(values)));
  const long before = peakKilobytes();
  const double seconds =
      testing::cpuSecondsOf([&] { expectRefused(imported(file), "more than 2000000 values", "values"); });
  EXPECT_LT(seconds, 20 * testing::slowdown);
  if (!addressSanitizer) {  // which keeps what was freed
    EXPECT_LT(peakKilobytes() - before, 100 * 1024);
  }
}

TEST(Pt2Errors, UnpacksNoMoreThanWasPromised) {
  // 4 MB of zeros deflate to 4 KB; the promise of fewer bytes is not believed, nor is one of more.
  std::string packed;
  {
    const std::string_view stored("\x01\x05\x00\xfa\xffhello", 10);  // one stored block
    packed = stored;
  }
  EXPECT_EQ(inflateBytes(bytesOf(packed), 5).value_or(""), "hello");
  EXPECT_FALSE(inflateBytes(bytesOf(packed), 4).has_value());
  EXPECT_FALSE(inflateBytes(bytesOf(packed), 6).has_value());
  EXPECT_FALSE(inflateBytes(bytesOf(packed.substr(0, 7)), 5).has_value());
  EXPECT_FALSE(inflateBytes(bytesOf("\xff\xff\xff"), 5).has_value());
  EXPECT_FALSE(inflateBytes({}, 5).has_value());
}

TEST(Pt2Errors, RefusesBombs) {
  // The largest program that may be unpacked; spaces.pt2 unpacks 6 MB from 6 KB.
  ImportLimits limits;
  limits.fileBytes = 1 << 20;
  const auto capture = importPt2(seed("spaces.pt2"), limits, {});
  expectRefused(capture, "the limit is 1048576", "bomb");
  EXPECT_EQ(capture.error().code, ErrorCode::TooLarge);
  // A directory that promises far more than its bytes can unpack to.
  std::string file = testing::readFile(seed("spaces.pt2"));
  std::size_t entry = 0;
  for (std::size_t at = file.find("PK\x01\x02"); at != std::string::npos; at = file.find("PK\x01\x02", at + 4))
    if (file.compare(at + 46, 19, "m/models/model.json") == 0) entry = at;
  ASSERT_NE(entry, 0u);
  for (std::size_t i = 0; i < 4; ++i) file[entry + 24 + i] = "\xff\xff\xff\x7f"[i];
  expectRefused(imported(file), "packed into", "ratio");
}

TEST(Pt2Errors, KeepsToItsLimitsOfNodes) {
  ImportLimits limits;
  limits.nodes = 1;
  expectRefused(importPt2(seed("relu.pt2"), limits, {}), "more than 1", "nodes");
}

TEST(Pt2Errors, StopsWhenAsked) {
  const auto capture = importPt2(seed("relu.pt2"), {}, [](double) { return false; });
  ASSERT_FALSE(capture.has_value());
  EXPECT_EQ(capture.error().code, ErrorCode::Cancelled);
}

TEST(Pt2Errors, NamesWhatIsMissingOrOdd) {
  expectRefused(imported("PK\x05\x06"s + std::string(18, '\0')), "no exported program", "empty zip");
  expectRefused(imported(""), "no end record", "nothing");
  expectRefused(imported(archive(membersWith("{}"))), "schema 0.0", "empty object");
  expectRefused(imported(archive(membersWith(R"({"schema_version": {"major": 8, "minor": 1}})"))), "no graph_module",
                "no module");
  expectRefused(imported(archive(membersWith(program("{}") + "x"))), "more text", "trailing text");
  expectRefused(imported(archive(membersWith(program("[]")))), "'{' expected", "a list");
  expectRefused(imported(archive(membersWith(program(R"({"x": {"dtype": 99}})")))), "99 is not a dtype", "dtype");
  expectRefused(
      imported(archive(membersWith(program(R"({"x": {"sizes": [{"as_int": -1}], "strides": [{"as_int": 1}]}})")))),
      "the size -1", "size");
  expectRefused(imported(archive(
                    membersWith(program(R"({"x": {"sizes": [{"as_expr": {"expr_str": "s0 +"}}], "strides": []}})")))),
                "not a symbolic expression", "symbol");
  expectRefused(imported(archive(membersWith(program("{\"x\": {\"device\": {\"type\": \"cpu\\u0000\"}}}")))),
                "type of a device", "device");
}

}  // namespace
}  // namespace kerf
