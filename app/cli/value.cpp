// kerf value GRAPH NODE: what a node's value is on one side of a comparison, and how two sides differ there.
#include <algorithm>

#include <fmt/ranges.h>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/numbers.h"
#include "app/cli/options.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

constexpr std::string_view barHeights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

Json valueJson(const NodeValueRequest& request, const NodeValue& value) {
  return {{"graph", request.graph.text},    {"node", request.node},
          {"side", request.side},           {"minus", orNull(request.minus)},
          {"dtype", value.dtype},           {"shape", value.shape},
          {"strides", value.strides},       {"figures", jsonOf(value.figures)},
          {"slice", value.plane.slice},     {"plane", {value.plane.rows, value.plane.columns}},
          {"window", jsonOf(value.window)}, {"next_not_finite", value.hasOdd ? Json(value.odd) : Json()},
          {"saved", orNull(value.saved)},   {"recorded", orNull(value.source)}};
}

/// A bar for each step of the histogram; a step with elements is never empty.
std::string histogramText(const std::vector<std::int64_t>& histogram) {
  const auto most = std::max<std::int64_t>(1, histogram.empty() ? 1 : std::ranges::max(histogram));
  std::string bars;
  for (const std::int64_t count : histogram) bars += barHeights[std::size_t((count * 8 + most - 1) / most)];
  return bars;
}

void printFigures(const ValueFigures& figures) {
  if (figures.finite > 0)
    fmt::print("minimum {:.6g}, maximum {:.6g}, mean {:.6g}, standard deviation {:.6g}\n", figures.minimum,
               figures.maximum, figures.mean, figures.deviation);
  fmt::print("NaN {}, +inf {}, -inf {}, zeros {}, subnormal {}\n", figures.nans, figures.positiveInfinities,
             figures.negativeInfinities, figures.zeros, figures.subnormals);
  if (!figures.histogram.empty()) fmt::print("{}\n", histogramText(figures.histogram));
}

void printWindow(const ValueWindow& window) {
  std::vector<std::string> head{""};
  for (std::int64_t i = 0; i < window.columns; ++i) head.push_back(fmt::format("[{}]", window.column + i));
  TextTable table(head);
  for (std::int64_t row = 0; row < window.rows; ++row) {
    std::vector<std::string> cells{fmt::format("[{}]", window.row + row)};
    for (std::int64_t column = 0; column < window.columns; ++column)
      cells.push_back(window.cells[std::size_t(row * window.columns + column)]);
    table.add(cells);
  }
  fmt::print("\n{}", table.text());
}

void printValue(const NodeValueRequest& request, const NodeValue& value) {
  fmt::print("{}, {}{}{}: {}[{}], strides [{}]\n", request.node, request.side, request.minus.empty() ? "" : " − ",
             request.minus, value.dtype, fmt::join(value.shape, ", "), fmt::join(value.strides, ", "));
  if (!value.source.empty()) fmt::print("recorded: {}\n", value.source);
  printFigures(value.figures);
  if (value.hasOdd) fmt::print("not finite at [{}]\n", fmt::join(value.odd, ", "));
  if (!value.window.cells.empty()) printWindow(value.window);
  if (!value.saved.empty()) fmt::print("saved: {}\n", value.saved);
}

Result<int> runValue(Context& context, const NodeValueRequest& request) {
  KERF_TRY(const NodeValue value, context.perform(request));
  if (context.json)
    printJson(valueJson(request, value));
  else
    printValue(request, value);
  return 0;
}

}  // namespace

void addValue(CommandLine& line) {
  auto& command =
      line.add("value", "Show the value of a node: compiled, interpreted, in fp64, recorded, or the difference of two",
               "  kerf value repro.py addmm_1\n"
               "  kerf value repro.py addmm_1 --side compiled --minus fp64\n"
               "  kerf value repro.py softmax --slice 0,3 --side interpreter\n"
               "  kerf value repro.py arg0_1 --side recorded\n"
               "  kerf value model.pt2 linear_3 --minus recorded --expect io.safetensors\n"
               "  kerf value repro.py addmm_1 --save addmm_1.npy");
  auto request = std::make_shared<NodeValueRequest>();
  request->rows = 8;
  request->columns = 8;
  const auto side = CLI::IsMember({"compiled", "interpreter", "fp64", "recorded"});
  command.add_option("GRAPH", request->graph.text, "Path or store id")->required();
  command.add_option("NODE", request->node, "Name of a node whose value is a tensor")->required();
  command
      .add_option("--side", request->side,
                  "Which value: compiled, interpreter, fp64, or recorded (in the capture, nothing is computed)")
      ->check(side)
      ->capture_default_str();
  command.add_option("--minus", request->minus, "Show the difference to this side, in fp64")->check(side);
  command.add_option("--expect", request->expect, "Recorded values (out0, out1, …, in0, in1, … or nodes by name)")
      ->type_name("FILE");
  command.add_option("--slice", request->slice, "Indices of all dimensions but the last two")
      ->delimiter(',')
      ->type_name("I,J,…");
  command.add_option("--row", request->row, "First row to print")->check(wholeBetween(0, INT64_MAX));
  command.add_option("--column", request->column, "First column to print")->check(wholeBetween(0, INT64_MAX));
  command.add_option("--save", request->save, "Write the whole value as .npy or .safetensors")->type_name("FILE");
  command.add_option("--backend", request->backend, "Backend of the compiled side")->capture_default_str();
  addPlantOption(command, request->plants, "Plant a fault in the compiled side");
  addTimeoutOption(command, request->timeout, "Seconds that computing the value may take");
  addInputOptions(command, request->graph);
  addSymbolOption(command, request->graph.symbols);
  line.onRun(command, [request](Context& context) { return runValue(context, *request); });
}

}  // namespace kerf::cli
