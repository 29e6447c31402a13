// Where a graph or record of a capture came from: file, line, compile id, rank, pass.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kerf::inline capture {

/// Bytes of a file on disk; nothing is read until somebody asks.
struct FileRange {
  std::filesystem::path path;
  std::int64_t offset = 0;  ///< bytes
  std::int64_t length = 0;  ///< bytes
};

struct GraphOrigin {
  std::filesystem::path file;
  int line = 0;           ///< 1-based line of the graph's or record's first line; 0: unknown
  int rank = -1;          ///< distributed rank; -1: none
  std::string compileId;  ///< as tlparse prints it: "[0/0]", "[!1/0/2_1]"; empty outside a trace
  std::string stage;      ///< record kind or pass: "aot_joint_graph", "after_post_grad_graph", "fx_graph_readable"
};

}  // namespace kerf::inline capture
