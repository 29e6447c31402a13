// tritonparse's logs: kernels and their texts as records, source lines of TTIR and PTX, and hostile input.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "engine/capture/common/capture.h"
#include "engine/capture/trace/triton_lines.h"
#include "engine/capture/trace/triton_trace.h"

namespace kerf {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// In the form that tritonparse writes; the kernel is none of anybody's. Python's own strings would end the raw one.
const std::string compilationLine =
    R"x({"event_type": "compilation", "pid": 7, "stack": [{"line": 40, "name": "scale", "filename": "/home/u/model.py", )x"
    R"x("loc": "twice[grid](x)"}, {"line": 370, "name": "run", "filename": "/site/triton/runtime/jit.py", "loc": "run"}], )x"
    R"x("timestamp": "2026-11-29T10:00:00.000000Z", "payload": {"metadata": {"hash": "ab12cd34ef", "name": "twice", )x"
    R"x("num_warps": 4, "num_stages": 3, "num_ctas": 1, "shared": 0, "arch": "sm90", "triton_version": "3.7.1"}, )x"
    R"x("file_path": {"twice.ttir": "/tmp/twice.ttir"}, "file_content": {"twice.ttir": )x"
    R"x("#loc = loc(\"/home/u/model.py\":12:0)\nmodule {\n  %0 = tt.load %p : f32 loc(#loc2)\n)x"
    R"x(  %1 = arith.addf %0, %0 : f32 loc(#loc9)\n} loc(#loc)\n#loc1 = loc(unknown)\n)x"
    R"x(#loc2 = loc(\"/home/u/model.py\":14:16)\n#loc3 = loc(\"/home/u/model.py\":15:8)\n#loc9 = loc(\"y\"(#loc3))\n", )x"
    R"x("twice.ptx": ".visible .entry twice()\n{\n\t.loc\t1 14 16\n\tld.global.b32 %r1, [%rd1];\n\t.loc\t1 15 8\n)x"
    R"x(\tadd.f32 %r2, %r1, %r1;\n\tret;\n}\n\t.file\t1 \"/home/u/model.py\"\n", "twice.cubin": "AAAA"}, )x"
    R"x("python_source": {"file_path": "/home/u/model.py", "start_line": 12, "end_line": 16, )x"
    R"x("code": "@triton.jit\ndef twice(p):\n    pass\n"}, "pt_info": {"frame_id": 2, "frame_compile_id": 1}}})x";
const std::string launchLine =
    R"x({"event_type": "launch", "pid": 7, "name": "twice", "function": 1, "stream": 0, "grid": [8], )x"
    R"x("compilation_metadata": {"hash": "ab12cd34ef", "name": "twice"}, "extracted_args": {"p": {"type": "tensor", )x"
    R"x("shape": [64], "dtype": "torch.float32", "device": "cuda:0", "stride": [1]}, "n": {"type": "int", "value": 64}}, )x"
    R"x("stack": [{"line": 41, "name": "scale", "filename": "/home/u/model.py", "loc": "x"}]})x";

Result<Capture> imported(const std::string& text, const ImportLimits& limits = {}) {
  return importTritonTrace(text, "kernels.ndjson", limits);
}

std::vector<std::string> recordNames(const Capture& capture) {
  std::vector<std::string> names;
  for (const CaptureRecord& record : capture.details->records) names.push_back(record.name);
  return names;
}

TEST(TritonTrace, HasARecordForEachCompilationTextAndLaunchedKernel) {
  EXPECT_TRUE(looksLikeTritonTrace(compilationLine));
  const std::string text = compilationLine + "\n" + launchLine + "\n" + launchLine + "\n";
  const auto capture = imported(text);
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(capture->kind, "tritonparse");
  EXPECT_THAT(recordNames(*capture),
              ElementsAre("triton_compilation", "twice.py", "twice.ttir", "twice.ptx", "triton_launches"));
  const auto& records = capture->details->records;
  EXPECT_EQ(records[0].origin.compileId, "[2/1]");
  EXPECT_THAT(records[0].metadata, HasSubstr(R"("num_warps":4)"));
  EXPECT_THAT(records[0].metadata, HasSubstr("/home/u/model.py:40 in scale"));
  const auto source = records[1].text();
  ASSERT_TRUE(source);
  EXPECT_EQ(*source, "@triton.jit\ndef twice(p):\n    pass");
  EXPECT_THAT(records[4].metadata, HasSubstr(R"("count":2)"));
  EXPECT_THAT(records[4].metadata, HasSubstr("p: float32[64] cuda:0, n: 64"));
  ASSERT_EQ(capture->details->compiles.size(), 2U);
  EXPECT_EQ(capture->details->compiles[0].status, CompileEntry::Status::Ok);
}

/// "3 <- model.py:14" for each line.
std::vector<std::string> placesOfLines(const trace::KernelSourceLines& lines) {
  std::vector<std::string> said;
  for (const auto& line : lines.lines)
    said.push_back(fmt::format("{} <- {}:{}", line.line, lines.files.at(std::size_t(line.file)), line.source));
  return said;
}

TEST(TritonTrace, LinesAreThoseOfTheSource) {
  const auto capture = imported(compilationLine);
  ASSERT_TRUE(capture);
  EXPECT_THAT(placesOfLines(trace::linesOfMlir(*capture->details->records[2].text())),
              ElementsAre("3 <- /home/u/model.py:14", "4 <- /home/u/model.py:15", "5 <- /home/u/model.py:12"));
  EXPECT_THAT(placesOfLines(trace::linesOfPtx(*capture->details->records[3].text())),
              ElementsAre("4 <- /home/u/model.py:14", "6 <- /home/u/model.py:15", "7 <- /home/u/model.py:15"));
  EXPECT_THAT(placesOfLines(trace::linesOfMlir("%0 = f loc(callsite(#loc1 at #loc2))\n#loc1 = loc(\"a.py\":1:2)\n"
                                               "#loc2 = loc(\"b.py\":3:4)\n")),
              ElementsAre("1 <- b.py:3"));
  EXPECT_THAT(placesOfLines(trace::linesOfMlir("%0 = f loc(#loc1)\n#loc1 = loc(#loc2)\n#loc2 = loc(#loc1)\n")),
              IsEmpty())
      << "a circle";
  EXPECT_THAT(placesOfLines(trace::linesOfMlir("%0 = f loc(unknown)\n%1 = f loc(\n%2 loc(\"a.py\":x)\n")), IsEmpty());
  EXPECT_THAT(placesOfLines(trace::linesOfPtx("\t.loc\n\t.loc 1\n\tadd\n\t.file 1\n\t.file x \"\n")), IsEmpty());
}

/// Through chains of aliases of any length, and whichever of them is asked first.
TEST(TritonTrace, AliasesAreFollowedOnce) {
  std::string text = "%0 = f loc(#loc500)\n%1 = f loc(#loc0)\n%2 = f loc(#loc250)\n#loc0 = loc(\"k.py\":7:1)\n";
  for (int i = 1; i <= 500; ++i) text += fmt::format("#loc{} = loc(\"n{}\"(#loc{}))\n", i, i, i - 1);
  EXPECT_THAT(placesOfLines(trace::linesOfMlir(text)), ElementsAre("1 <- k.py:7", "2 <- k.py:7", "3 <- k.py:7"));
}

/// A file is there once, whatever the number of its lines, and no path is longer than a system has them.
TEST(TritonTrace, LinesDoNotRepeatTheirFile) {
  const std::string path(4000, 'p'), tooLong(5000, 'q');
  std::string mlir = "#loc1 = loc(\"" + path + "\":3:1)\n#loc2 = loc(\"" + tooLong + "\":3:1)\n",
              ptx = ".file 1 \"" + path + "\"\n.file 2 \"" + tooLong + "\"\n";
  for (int i = 0; i < 100'000; ++i) {
    mlir += "%0 = f loc(#loc1)\n";
    ptx += ".loc 1 3 1\nadd;\n";
  }
  mlir += "%0 = f loc(#loc2)\n";
  ptx += ".loc 2 3 1\nadd;\n";
  const auto of = trace::linesOfMlir(mlir), machine = trace::linesOfPtx(ptx);
  EXPECT_THAT(of.files, ElementsAre(path));
  EXPECT_EQ(of.lines.size(), 100'000U);
  EXPECT_THAT(machine.files, ElementsAre(path, "")) << "a path that is not said";
  EXPECT_EQ(machine.lines.size(), 100'001U);
}

TEST(TritonTrace, LaunchesBeyondTheLimitAreCounted) {
  std::string text;
  for (int i = 0; i < 100'003; ++i)
    text += fmt::format("{{\"event_type\":\"launch\",\"name\":\"k{}\"}}\n", std::min(i, 100'001));
  const auto capture = imported(text);
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_THAT(capture->notes,
              Contains("3 launches of kernels beyond the first 100000 that were launched are left out"));
}

TEST(TritonTrace, WhatIsNoEventIsLeftOutAndCounted) {
  const auto capture =
      imported("{\"event_type\": \"launch\"}\nnothing\n{\"a\": 1}\n{\"event_type\": \"autotune\"}\n[1]\n");
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_THAT(capture->notes,
              ElementsAre("3 lines are no events of tritonparse and are left out",
                          "1 events are neither compilations nor launches", "the log holds kernels and no graphs"));
  const auto none = imported("{\"event_type\": \"autotune\"}\n");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::BadInput);
  EXPECT_FALSE(looksLikeTritonTrace("{\"a\": 1}"));
  EXPECT_FALSE(looksLikeTritonTrace("V1129 10:00:00.000000 7 torch/x.py:1] {\"event_type\": \"launch\"}"));
}

TEST(TritonTrace, WrongTypesHarmNothing) {
  for (const char* wrong : {"null", "7", "\"text\"", "[]", "{}", "[[]]", "true", "-1e999"})
    for (const char* member : {"payload", "stack", "metadata", "file_content", "pt_info", "python_source", "grid",
                               "extracted_args", "compilation_metadata", "name", "hash"})
      for (std::string text : {compilationLine, launchLine}) {
        const std::size_t at = text.find(std::string("\"") + member + "\": ");
        if (at == std::string::npos) continue;
        const std::size_t value = at + std::string(member).size() + 4;
        int depth = 0;
        std::size_t end = value;
        bool quoted = false;
        for (; end < text.size(); ++end) {
          if (text[end] == '"' && text[end - 1] != '\\') quoted = !quoted;
          if (quoted) continue;
          if (text[end] == '{' || text[end] == '[') ++depth;
          if (text[end] == '}' || text[end] == ']') --depth;
          if (depth < 0 || (depth == 0 && text[end] == ',')) break;
        }
        text.replace(value, end - value, wrong);
        EXPECT_TRUE(imported(text)) << member << " " << wrong;
      }
}

TEST(TritonTrace, CutDeepAndLargeOnesEnd) {
  for (std::size_t cut = 0; cut < compilationLine.size(); cut += 13) (void)imported(compilationLine.substr(0, cut));
  (void)imported("{\"event_type\": \"compilation\", \"payload\": " + std::string(200'000, '['));
  const auto large = imported(compilationLine, {.lineBytes = 100});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::TooLarge);
  const auto whole = imported(compilationLine, {.fileBytes = 100});
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().code, ErrorCode::TooLarge);
  std::string odd = compilationLine;
  odd.replace(odd.find("twice.ttir\": \"#"), 15, "..\\/..\\u0000.ttir\": \"#");
  EXPECT_TRUE(imported(odd));
}

}  // namespace
}  // namespace kerf
