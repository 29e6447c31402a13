// kerf compare on graphs that draw random numbers: all runs see the same ones, on whatever device the graph is.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class CliRandomTest : public CliTest {
 protected:
  /// A graph as Dynamo prints it: dropout of what kernels, library calls, views and copies give.
  fs::path graph(const std::string& device, const std::string& dtype) const {
    std::string text =
        "class GraphModule(torch.nn.Module):\n"
        "    def forward(self, L_x_: \"DTYPE[4, 32][32, 1]DEVICE\", L_w_: \"DTYPE[32, 32][32, 1]DEVICE\"):\n"
        "        h = torch._C._nn.linear(L_x_, L_w_)\n"
        "        b = torch.nn.functional.dropout(h, 0.3, True, False)\n"
        "        s = L_x_ + b\n"
        "        c = torch.nn.functional.dropout(s, 0.3, True, False)\n"
        "        r = c.reshape(8, 16)\n"
        "        d = torch.nn.functional.dropout(r, 0.3, True, False)\n"
        "        t = L_x_.transpose(0, 1).reshape(128)\n"
        "        e = torch.nn.functional.dropout(t, 0.3, True, False)\n"
        "        f = torch.rand_like(e)\n"
        "        return (b, c, d, e, f)\n";
    for (const auto& [mark, value] : {std::pair<std::string, std::string>("DTYPE", dtype), {"DEVICE", device}})
      for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
        text.replace(at, mark.size(), value);
    return write(device + dtype + ".txt", text);
  }
};

TEST_F(CliRandomTest, EveryRunDropsTheSameElements) {
  for (const std::string device : {"cpu", "cuda:0"})
    for (const std::string dtype : {"f32", "f64"}) {
      const auto result = run({"compare", graph(device, dtype).string(), "--json"});
      EXPECT_EQ(result.status, 0) << result.errors;
      const auto outputs = json::parse(result.output)["outputs"];
      ASSERT_EQ(outputs.size(), 5u);
      for (const auto& output : outputs) {
        EXPECT_TRUE(output["same"]) << device << dtype << output;
        EXPECT_LT(output["rmse_ref"], 1e-5) << device << dtype << output;
        EXPECT_LT(output["max_abs_error"], 1e-5) << device << dtype << output;
      }
    }
}

}  // namespace
}  // namespace kerf::cli
