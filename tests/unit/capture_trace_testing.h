// Small TORCH_TRACE logs for tests, written record by record as PyTorch writes them.
#pragma once

#include <openssl/evp.h>

#include "engine/capture/trace/torch_trace.h"
#include "tests/unit/capture_testing.h"

namespace kerf::testing {

inline std::string md5Hex(const std::string& text) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int count = 0;
  EVP_Digest(text.data(), text.size(), bytes, &count, EVP_md5(), nullptr);
  std::string hex;
  for (unsigned int i = 0; i < count; ++i) hex += fmt::format("{:02x}", bytes[i]);
  return hex;
}

inline const std::string tracePrefix = "V1206 15:18:15.925000 1500233 torch/_dynamo/utils.py:1288] ";

/// The payload as the log holds it: a tab before every line.
inline std::string tabbed(const std::string& payload) {
  std::string out = "\t";
  for (const char character : payload) {
    out.push_back(character);
    if (character == '\n') out.push_back('\t');
  }
  return out + "\n";
}

/// A record without payload. `members` is the inside of the JSON object.
inline std::string traceRecord(const std::string& members) { return tracePrefix + "{" + members + "}\n"; }

/// A record with payload and the right checksum.
inline std::string traceRecord(const std::string& members, const std::string& payload) {
  return traceRecord(members + ", \"has_payload\": \"" + md5Hex(payload) + "\"") + tabbed(payload);
}

inline const std::string frame00 = ", \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0";

inline const std::string reluReadable =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, arg0_1: \"f32[2, 3][3, 1]cpu\"):\n"
    "         # File: /p/m.py:79 in forward, code: x = x.relu()\n"
    "        relu: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
    "        return (relu,)\n";

inline Result<Capture> importTraceText(const TemporaryFolder& folder, const std::string& text,
                                       const std::string& name = "dedicated_log_torch_trace_a.log") {
  writeFile(folder.path() / name, text);
  return importTorchTrace(folder.path() / name, {}, {});
}

inline std::string joinedNotes(const Capture& capture) {
  std::string all;
  for (const std::string& note : capture.notes) all += note + "\n";
  return all;
}

}  // namespace kerf::testing
