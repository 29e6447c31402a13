// kerf show of a tritonparse log: its two tables, and its texts as records.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

const std::string kernelLog =
    R"({"event_type": "compilation", "stack": [], "payload": {"metadata": {"hash": "ab12cd34ef", "name": "twice", "num_warps": 4, "num_stages": 3, "shared": 16, "arch": "sm90"}, "file_content": {"twice.ttir": "%0 = f loc(\"m.py\":3:1)\n%1 = f loc(\"m.py\":3:9)\n%2 = f loc(\"m.py\":5:1)\n", "twice.ptx": ".loc 1 3 1\nadd;\n.file 1 \"m.py\"\n"}}}
{"event_type": "launch", "name": "twice", "grid": [8, 2], "compilation_metadata": {"hash": "ab12cd34ef"}, "extracted_args": {"n": {"type": "int", "value": 64}}, "stack": [{"line": 41, "name": "scale", "filename": "m.py", "loc": "x"}]}
{"event_type": "launch", "name": "early", "grid": [1], "compilation_metadata": {"hash": "ff"}, "extracted_args": {}, "stack": []}
)";

class TritonLogTest : public CliTest {};

TEST_F(TritonLogTest, KernelsAndSourceLinesAreTables) {
  const auto log = write("dedicated_log_triton_trace_.ndjson", kernelLog).string();
  const auto kernels = runJson({"show", log, "--format", "triton"});
  const auto rows = kernels["rows"];
  ASSERT_EQ(rows.size(), 2U) << kernels.dump(1);
  EXPECT_EQ(rows[0]["kernel"], "twice");
  EXPECT_EQ(rows[0]["hash"], "ab12cd34");
  EXPECT_EQ(rows[0]["launches"], 1);
  EXPECT_EQ(rows[0]["grids"], "[8, 2] ×1");
  EXPECT_EQ(rows[0]["arguments"], "n: 64");
  EXPECT_EQ(rows[0]["where"], "m.py:41 in scale");
  EXPECT_EQ(rows[1]["kernel"], "early") << "compiled before the log begins";
  const auto lines = runJson({"show", log, "--format", "triton-lines"})["rows"];
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["source"], "m.py:3");
  EXPECT_EQ(lines[0]["ttir"], "1-2");
  EXPECT_EQ(lines[0]["machine"], "2");
  EXPECT_EQ(lines[1]["ttir"], "3");
  EXPECT_THAT(run({"show", log}).output, HasSubstr("the log holds kernels and no graphs"));
}

}  // namespace
}  // namespace kerf::cli
