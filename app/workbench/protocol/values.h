// The request about one node's value: what it is on either side of a comparison, and how two sides differ there.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "engine/process/codec.h"

namespace kerf::workbench {

/// What a tensor's elements are like; minimum to deviation are of the finite ones. Complex elements count with their
/// absolute values.
struct ValueFigures {
  std::int64_t elements = 0, finite = 0, nans = 0, positiveInfinities = 0, negativeInfinities = 0;
  std::int64_t zeros = 0, subnormals = 0;
  double minimum = 0, maximum = 0, mean = 0, deviation = 0;
  std::vector<std::int64_t> histogram;  ///< finite elements in equal steps from minimum to maximum; empty: none finite

  KERF_FIELDS(elements, finite, nans, positiveInfinities, negativeInfinities, zeros, subnormals, minimum, maximum, mean,
              deviation, histogram)
};

/// A node's figures on the sides of a comparison that have a tensor of it: "compiled", "interpreter", "fp64"; "recorded"
/// of what the capture has data for, "made up" of inputs that it has none for. Histograms have at most 32 steps.
struct SideFigures {
  std::string side;
  ValueFigures figures;

  KERF_FIELDS(side, figures)
};
struct NodeFigures {
  std::string node;
  std::vector<SideFigures> sides;

  KERF_FIELDS(node, sides)
};

/// The last two dimensions at leading indices, drawn small: each patch is its element of largest magnitude; a NaN, and
/// then an infinity, outweighs all.
struct ValuePlane {
  std::vector<std::int64_t> slice;     ///< the leading indices that are shown
  std::int64_t rows = 0, columns = 0;  ///< of the plane
  std::int64_t shownRows = 0, shownColumns = 0;
  std::vector<float> patches;  ///< row by row

  KERF_FIELDS(slice, rows, columns, shownRows, shownColumns, patches)
};

/// Exact numbers of some cells of the plane.
struct ValueWindow {
  std::int64_t row = 0, column = 0;  ///< of the first cell
  std::int64_t rows = 0, columns = 0;
  std::vector<std::string> cells;  ///< row by row, in the digits that tell neighbours apart

  KERF_FIELDS(row, column, rows, columns, cells)
};

struct NodeValue {
  std::string dtype;  ///< "f32"; of a difference "f64"
  std::vector<std::int64_t> shape, strides;
  ValueFigures figures;
  ValuePlane plane;
  ValueWindow window;
  std::vector<std::int64_t> odd;  ///< index of the NaN or infinity that was looked for; empty: there is none
  bool hasOdd = false;
  std::string saved;        ///< path of the file that was written; empty: none
  std::string source = {};  ///< of the recorded side: "input x of the capture", "out0 of mlp_io.safetensors"

  KERF_FIELDS(dtype, shape, strides, figures, plane, window, odd, hasOdd, saved, source)
};

/// Computes a node's value in a process of its own, or finds it among what was recorded: the capture's inputs,
/// parameters and constants, and outputs (or nodes by their names) of a file of expected values. That file is `expect`,
/// else one beside the capture ("mlp_io.safetensors", "mlp.out.safetensors" of "mlp.pt2"); its inputs are then what
/// every side of the request runs on. NotFound for a node that the graph does not have, or of which nothing is
/// recorded; BadUsage for a side that does not exist, a slice outside of the tensor and a file of another kind;
/// BadInput for what is no tensor.
struct NodeValueRequest {
  using Answer = NodeValue;
  static constexpr std::string_view name = "value";
  GraphAddress graph;
  std::string node;
  std::string side = "compiled";    ///< compiled, interpreter, fp64, recorded
  std::string minus = {};           ///< a side to subtract; empty: none
  std::vector<std::int64_t> slice;  ///< leading indices of the plane; those that are missing are 0
  std::int64_t row = 0, column = 0, rows = 24, columns = 12;  ///< of the window; it is moved into the plane
  std::int64_t oddAfter = -1;         ///< the NaN or infinity behind this element, counted row by row
  std::string save = {};              ///< .npy or .safetensors; empty: none
  std::string backend = "llvm";       ///< of the compiled side
  std::vector<std::string> plants{};  ///< faults in it: "relu=accuracy"
  std::chrono::milliseconds timeout{60'000};
  std::string expect = {};  ///< .safetensors with recorded values, as of RunRequest; empty: one beside the capture

  KERF_FIELDS(graph, node, side, minus, slice, row, column, rows, columns, oddAfter, save, backend, plants, timeout,
              expect)
};

}  // namespace kerf::workbench
