// TORCH_TRACE logs of several ranks as tests write them: graphs of collectives over process groups.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace kerf::testing_support {

/// A graph that reduces its input over these groups in turn: its nodes are all_reduce, all_reduce_1, …
inline std::string reducingGraph(const std::vector<std::string>& groups) {
  std::string text = "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n", last = "x";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string number = i == 0 ? "" : fmt::format("_{}", i);
    text += fmt::format(
        "        all_reduce{0} = torch.ops._c10d_functional.all_reduce.default({1}, 'sum', '{2}')\n"
        "        wait_tensor{0}: \"f32[4]\" = torch.ops._c10d_functional.wait_tensor.default(all_reduce{0})\n",
        number, last, groups[i]);
    last = "wait_tensor" + number;
  }
  return text + fmt::format("        return ({},)", last);
}

/// The record of a rank's graph of compile id [frame/0].
inline std::string graphRecord(int rank, int frame, const std::string& stage, const std::string& graph) {
  std::string payload = "\t";
  for (const char character : graph) payload += character == '\n' ? std::string("\n\t") : std::string(1, character);
  return fmt::format(
      "V1206 15:18:15.925000 77 torch/_dynamo/utils.py:1288] {{\"{}\": {{}}, \"rank\": {}, \"frame_id\": {}, "
      "\"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"00000000000000000000000000000000\"}}\n{}\n",
      stage, rank, frame, payload);
}

/// Files rank0.log, rank1.log, … in this folder, which is made anew.
inline void writeRankLogs(const std::filesystem::path& folder, const std::vector<std::string>& logs) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (std::size_t rank = 0; rank < logs.size(); ++rank)
    std::ofstream(folder / fmt::format("rank{}.log", rank)) << logs[rank];
}

/// Ranks whose collectives of group '0' are elsewhere in their graphs. On rank 1 another node, after one of group '7'; on rank
/// 2, which joins in that, another compile id and stage, and the second graph of those.
inline void writeRanksApart(const std::filesystem::path& folder) {
  const std::string usual = "inductor_post_grad_graph", other = "aot_inference_graph";
  writeRankLogs(folder,
                {graphRecord(0, 0, usual, reducingGraph({"0"})), graphRecord(1, 0, usual, reducingGraph({"7", "0"})),
                 graphRecord(2, 1, other, reducingGraph({"7"})) + graphRecord(2, 1, other, reducingGraph({"0"}))});
}

}  // namespace kerf::testing_support
