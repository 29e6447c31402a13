// Graphs of views by numbers, as text.
#include <numeric>

#include "engine/ir/parser.h"
#include "tests/differential/fuzzgraph/random_values.h"
#include "tests/differential/wrongcalls/sized_case.h"

namespace kerf::wrongcalls {
namespace {

using fuzzgraph::Dice;

struct ViewDtype {
  std::string_view text;
  DType dtype;
};
constexpr ViewDtype viewDtypes[] = {{"f32", DType::Float32}, {"f32", DType::Float32}, {"f64", DType::Float64},
                                    {"i64", DType::Int64},   {"u8", DType::UInt8},    {"bf16", DType::BFloat16}};

std::string listOf(const Sizes& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

std::int64_t product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

/// Lines of a graph over x. Sizes are those of the example, as far as they are followed.
struct ViewsWriter {
  Dice& dice;
  std::string body{}, current = "x";
  Sizes sizes{};
  std::int64_t memory = 0;  ///< elements behind what is viewed
  int count = 0;

  std::string call(std::string_view op, const std::string& arguments) {
    const std::string name = fmt::format("v{}", count++);
    body += fmt::format("    {} = torch.ops.aten.{}({})\n", name, op, arguments);
    return name;
  }
  void move(std::string_view op, const std::string& arguments) {
    current = call(op, arguments.empty() ? current : current + ", " + arguments);
  }
  std::int64_t anyDim() { return dice.between(0, std::int64_t(sizes.size()) - 1); }

  void compute() {
    const auto way = dice.below(4);
    if (way == 0) move("mul.Tensor", "2");
    if (way == 1) move("add.Tensor", "1");
    if (way == 2) move("clone.default", "");
    if (way == 3) move("abs.default", "");
    memory = product(sizes);
  }

  void cut() {
    const std::int64_t dim = anyDim(), size = std::max<std::int64_t>(sizes[std::size_t(dim)], 0);
    const std::int64_t start = dice.between(0, size), end = dice.between(start, size + 2), step = dice.between(1, 2);
    move("slice.Tensor", fmt::format("{}, {}, {}, {}", dim, start, end, step));
    sizes[std::size_t(dim)] = std::max<std::int64_t>((std::min(end, size) - start + step - 1) / step, 0);
  }

  void view() {
    const auto way = dice.below(7);
    if (sizes.empty() || way == 0) return move("alias.default", "");
    const std::int64_t dim = anyDim(), other = anyDim();
    if (way == 1 || way == 2) return cut();
    if (way == 3) {
      std::swap(sizes[std::size_t(dim)], sizes[std::size_t(other)]);
      return move("transpose.int", fmt::format("{}, {}", dim, other));
    }
    if (way == 4) {
      const std::int64_t last = sizes[std::size_t(dim)];
      sizes.erase(sizes.begin() + dim);
      return move("select.int", fmt::format("{}, {}", dim, dice.between(-1, std::max<std::int64_t>(last - 1, 0))));
    }
    if (way == 5) {
      sizes.insert(sizes.begin(), dice.between(1, 3));
      return move("expand.default", listOf(sizes));
    }
    sizes.insert(sizes.begin() + dim, 1);
    move("unsqueeze.default", fmt::format("{}", dim));
  }

  /// Sizes and strides that end about where the memory does.
  std::string strided(bool withOffset) {
    const std::int64_t rank = dice.between(0, 3), most = std::max<std::int64_t>(memory, 2);
    Sizes to, by;
    for (std::int64_t d = 0; d < rank; ++d) {
      to.push_back(dice.chance(8) ? 0 : dice.between(1, d == 0 ? most + 2 : 4));
      by.push_back(dice.chance(70) ? dice.between(0, 3) : dice.between(0, most));
    }
    if (dice.chance(4) && rank > 0) to[0] = dice.pick({std::int64_t(-1), std::int64_t(4096), std::int64_t(1) << 40});
    if (dice.chance(4) && rank > 0) by[0] = dice.pick({std::int64_t(-1), std::int64_t(1) << 40, std::int64_t(1) << 62});
    if (dice.chance(2)) by.push_back(1);
    std::string text = listOf(to) + ", " + listOf(by);
    if (withOffset)
      text += fmt::format(", {}", dice.chance(90) ? dice.between(0, most)
                                                  : dice.pick({std::int64_t(-1), std::int64_t(1) << 40,
                                                               std::int64_t(9223372036854775807)}));
    sizes = to;
    return text;
  }

  void wrong() {
    const auto way = dice.below(10);
    if (way < 4) return move("as_strided.default", strided(true));
    if (way == 4) return move("as_strided_copy.default", strided(true));
    if (way == 5) return move("_reshape_alias.default", strided(false));
    if (way == 6) {
      const std::string source = call("full.default", listOf(dice.chance(50) ? sizes : Sizes{dice.between(0, 5)}) +
                                                          ", 7, dtype = torch." + std::string(dtypeName));
      return move("as_strided_scatter.default", source + ", " + strided(true));
    }
    if (way == 7 && !sizes.empty())
      return move("unfold.default", fmt::format("{}, {}, {}", anyDim(), dice.between(0, 6), dice.between(0, 4)));
    if (way == 8 && !sizes.empty())
      return move("narrow.default", fmt::format("{}, {}, {}", anyDim(), dice.between(-3, 6), dice.between(-1, 6)));
    move("view.default", listOf({dice.between(-1, 8), dice.between(-1, 8)}));
  }

  /// What is read of the view, or written through it.
  void use() {
    const std::string before = current;
    const auto way = dice.below(7);
    if (way == 0) move("mul.Tensor", "3");
    if (way == 1) move("sum.default", "");
    if (way == 2) call("fill_.Scalar", before + ", 7");
    if (way == 3) call("add_.Tensor", before + ", 1");
    if (way == 4) call("zero_.default", before);
    if (way == 5)
      call("copy_.default",
           before + ", " + call("full.default", listOf(sizes) + ", 5, dtype = torch." + std::string(dtypeName)));
    if (way == 6) move("clone.default", "");
  }

  std::string_view dtypeName = "float32";
};

struct SymbolPlan {
  std::vector<std::string> texts;  ///< of the sizes
  std::vector<std::size_t> dims;   ///< that are symbols
};

SymbolPlan planSymbols(Dice& dice, const Sizes& sizes) {
  SymbolPlan plan;
  const bool symbolic = dice.chance(45);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const bool open = symbolic && sizes[d] > 1 && dice.chance(70);
    if (open) plan.dims.push_back(d);
    plan.texts.push_back(open ? fmt::format("s{}", d) : fmt::to_string(sizes[d]));
  }
  return plan;
}

ValueList inputsOf(Dice& dice, const SymbolPlan& plan, const Sizes& sizes, DType dtype) {
  ValueList inputs;
  for (const std::size_t d : plan.dims) inputs.emplace_back(sizes[d]);
  inputs.emplace_back(fuzzgraph::randomTensor(dice, dtype, sizes, {-2, 2}, fuzzgraph::Arrangement::RowMajor));
  return inputs;
}

}  // namespace

SizedCase drawViews(Dice& dice) {
  const ViewDtype& dtype = viewDtypes[dice.below(std::size(viewDtypes))];
  Sizes sizes(std::size_t(dice.between(1, 3)), 1);
  for (std::int64_t& size : sizes) size = dice.between(1, 6);
  const SymbolPlan plan = planSymbols(dice, sizes);
  ViewsWriter write{dice};
  write.dtypeName = dtypeInfo(dtype.dtype).torchName.substr(6);
  write.sizes = sizes;
  write.memory = product(sizes);
  for (auto steps = dice.below(4); steps > 0; --steps) dice.chance(35) ? write.compute() : write.view();
  const std::string base = write.current;
  write.wrong();
  if (dice.chance(30)) write.view();
  if (dice.chance(20)) write.wrong();
  write.use();
  if (dice.chance(50)) write.use();
  const std::string again = write.call("add.Tensor", base + ", 1");
  std::string parameters;
  for (const std::size_t d : plan.dims) parameters += fmt::format("s{0}: \"Sym(s{0})\", ", d);
  SizedCase sized;
  sized.text = fmt::format("def forward(self, {}x: \"{}[{}]\"):\n{}    return ({}, {})\n", parameters, dtype.text,
                           fmt::join(plan.texts, ", "), write.body, write.current, again);
  if (auto module = parseReadable(sized.text)) sized.module = std::move(*module);
  sized.inputs.push_back(inputsOf(dice, plan, sizes, dtype.dtype));
  for (int run = 0; run < 3 && !plan.dims.empty(); ++run) {
    Sizes later = sizes;
    for (const std::size_t d : plan.dims) later[d] = dice.between(run == 2 ? 0 : 2, 9);
    sized.inputs.push_back(inputsOf(dice, plan, later, dtype.dtype));
  }
  return sized;
}

}  // namespace kerf::wrongcalls
