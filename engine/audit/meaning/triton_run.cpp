// Runs Triton kernels: one program of the grid after the other. With a reduction, lanes are elements of the reduced axis
// and a program does one x; without, lanes are elements of x.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/audit/meaning/block_places.h"
#include "engine/audit/meaning/lane_reductions.h"

namespace kerf::inline audit {
namespace {

constexpr double blockLanes = 4096;

class TritonMachine final : public KernelMachine {
 public:
  TritonMachine(std::string_view name, std::string_view text, RunBudget& budget)
      : KernelMachine(budget), m_module(readPython(text)) {
    for (const SyntaxNode& node : m_module.items) {
      if (!node.is(SyntaxKind::Define) || node.items.size() < 2) continue;
      m_functions[node.text] = &node;
      if (node.text == name) m_kernel = &node;
    }
  }

  std::string run(const std::vector<RunArgument>& arguments) override {
    if (m_kernel == nullptr) return "it has no definition that can be read";
    if (const std::string why = bind(arguments); !why.empty()) return why;
    const std::unordered_map<std::string, KernelLanes> start = m_values;
    const double x = extent("xnumel"), y = extent("ynumel"), z = extent("znumel");
    if (extent("r1_numel") > 0) return "it reduces two axes";
    if (x <= 0) return "its size is not known";
    const double lanes = m_values["XBLOCK"].at(0);
    m_programs = {std::ceil(x / lanes), std::max(y, 1.0), std::max(z, 1.0)};
    for (m_program[2] = 0; m_program[2] < m_programs[2]; ++m_program[2])
      for (m_program[1] = 0; m_program[1] < m_programs[1]; ++m_program[1])
        for (m_program[0] = 0; m_program[0] < m_programs[0]; ++m_program[0]) {
          m_values = start;
          block(m_kernel->items[1]);
          if (isStopped()) return problem();
        }
    return {};
  }

 private:
  std::string bind(const std::vector<RunArgument>& arguments) {
    m_values.clear();
    m_memories.clear();
    m_problem.clear();
    std::size_t given = 0;
    for (const SyntaxNode& each : m_kernel->items[0].items) {
      if (!each.keywords.empty()) continue;
      if (given == arguments.size()) return "the call gives too few arguments";
      const RunArgument& argument = arguments[given++];
      KernelLanes value(argument.number, argument.memory == nullptr ? LaneType::Int32 : argument.memory->type);
      if (argument.memory != nullptr) {
        value.memory = int(m_memories.size());
        m_memories.push_back(argument.memory);
      }
      m_values[each.text] = value;
    }
    const bool isReduced = extent("r0_numel") > 0 || extent("rnumel") > 0;
    // An axis is never one block: a kernel that forgets which block it does would be right.
    const double x = extent("xnumel");
    m_values["XBLOCK"] = {isReduced ? 1 : x <= blockLanes ? partOf(x) : blockOf(x), LaneType::Int32};
    for (const char* const one : {"YBLOCK", "ZBLOCK"}) m_values[one] = {1, LaneType::Int32};
    const double reduced = reducedBlock(std::max(extent("r0_numel"), extent("rnumel")));
    for (const char* const name : {"R0_BLOCK", "RBLOCK"}) m_values[name] = {reduced, LaneType::Int32};
    return {};
  }

  /// Of a loop over a reduced axis: it runs twice at least, the last time over a part of a block.
  double reducedBlock(double size) const {
    const bool isLooped =
        std::ranges::any_of(m_kernel->items[1].items, [](const SyntaxNode& each) { return each.is(SyntaxKind::For); });
    return isLooped && size <= blockLanes ? partOf(size) : blockOf(size);
  }

  /// About half of an axis. Where a kernel may count on whole blocks, and has no mask, it is half.
  static double partOf(double size) {
    constexpr double wholeBlocks = 16;
    if (size <= 2) return 1;
    return std::fmod(size, wholeBlocks) == 0 ? size / 2 : std::floor(size / 2) + 1;
  }

  /// A block that divides an axis, so that no lane is beyond its end, where there is a large one.
  static double blockOf(double size) {
    if (size <= blockLanes) return std::max(size, 1.0);
    for (double block = blockLanes; block >= 64; --block)
      if (std::fmod(size, block) == 0) return block;
    return blockLanes;
  }

  /// Of an axis: as the kernel fixes it, or as the call gives it; 0: it has no such axis.
  double extent(std::string_view name) {
    for (const SyntaxNode& node : m_kernel->items[1].items)
      if (node.is(SyntaxKind::Assign) && node.items[0].isName(name))
        if (const auto fixed = node.items[1].integer()) return double(*fixed);
    const auto given = m_values.find(std::string(name));
    return given == m_values.end() || given->second.isUnknown ? 0 : given->second.at(0);
  }

  // --- statements ---------------------------------------------------------------------------------------------------

  void block(const SyntaxNode& node) {
    for (const SyntaxNode& each : node.items) {
      if (isStopped() || m_hasReturned) return;
      statement(each);
    }
  }

  void statement(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxKind::Assign:
        return assign(node.items[0], evaluate(node.items[1]));
      case SyntaxKind::Expression:
        if (node.items[0].is(SyntaxKind::Name) && node.items[0].text == "pass") return;
        (void)evaluate(node.items[0]);
        return;
      case SyntaxKind::For:
        return loop(node);
      case SyntaxKind::Return:
        if (!node.items.empty()) m_returned = evaluate(node.items[0]);
        m_hasReturned = true;
        return;
      case SyntaxKind::Import:
      case SyntaxKind::Block:
      case SyntaxKind::Pragma:
        return;
      default:
        stop(node, "has a statement that cannot be run");
    }
  }

  void assign(const SyntaxNode& target, KernelLanes value) {
    if (target.is(SyntaxKind::Name)) {
      m_values[target.text] = std::move(value);
      return;
    }
    if (!target.is(SyntaxKind::Tuple)) return stop(target, "assigns to what is no name");
    for (std::size_t i = 0; i < target.items.size(); ++i)
      m_values[target.items[i].text] =
          value.parts && i < value.parts->size() ? (*value.parts)[i] : KernelLanes::unknown(value.type);
  }

  void loop(const SyntaxNode& node) {
    const SyntaxNode& range = node.items[1];
    const std::string callee = range.callee();
    if ((callee != "tl.range" && callee != "range" && callee != "tl.static_range") || range.argumentCount() < 3 ||
        node.items[0].items.size() != 1)
      return stop(node, "is a loop of another kind");
    const KernelLanes from = evaluate(range.argument(0)), to = evaluate(range.argument(1)),
                      by = evaluate(range.argument(2));
    if (from.isUnknown || to.isUnknown || by.isUnknown || by.at(0) <= 0)
      return stop(node, "has bounds that are not known");
    for (double at = from.at(0); at < to.at(0) && !isStopped(); at += by.at(0)) {
      m_values[node.items[0].items[0].text] = {at, LaneType::Int32};
      block(node.items[2]);
    }
  }

  // --- expressions --------------------------------------------------------------------------------------------------

  KernelLanes number(const SyntaxNode& node) const override {
    if (const auto integer = node.integer()) return {double(*integer), LaneType::Int32};
    double value = std::numeric_limits<double>::quiet_NaN();
    std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
    return std::isnan(value) ? KernelLanes::unknown() : KernelLanes(value, LaneType::Float32);
  }

  KernelLanes item(const SyntaxNode& node) override { return evaluate(node.items[0]); }  // x[:, None]

  KernelLanes binary(const SyntaxNode& node) override {
    if (node.text == "is") {
      const auto a = typeAt(node.items[0]), b = typeAt(node.items[1]);
      return a && b ? KernelLanes(*a == *b, LaneType::Bool) : KernelLanes::unknown(LaneType::Bool);
    }
    return KernelMachine::binary(node);
  }

  /// "tl.float32", "tmp6.dtype".
  std::optional<LaneType> typeAt(const SyntaxNode& node) {
    if (node.is(SyntaxKind::Member) && node.text == "dtype") return evaluate(node.items[0]).type;
    const std::string name = elementType(node.dotted());
    return name.empty() ? std::nullopt : std::optional(laneTypeOf(name));
  }

  /// Lanes of a block of the shape [XBLOCK, R0_BLOCK], or tmp6.shape; 0: not known.
  std::size_t lanesOf(const SyntaxNode& shape) {
    if (shape.is(SyntaxKind::Member) && shape.text == "shape") return evaluate(shape.items[0]).size();
    if (!shape.is(SyntaxKind::Tuple)) return 0;
    double count = 1;
    for (const SyntaxNode& each : shape.items) {
      const KernelLanes size = evaluate(each);
      if (size.isUnknown) return 0;
      count *= size.at(0);
    }
    return count >= 1 && count <= 1 << 22 ? std::size_t(count) : 0;
  }

  KernelLanes call(const SyntaxNode& node, const CallName& name) override {
    struct Form {
      std::string_view name;
      KernelLanes (TritonMachine::*run)(const SyntaxNode&);
    };
    static constexpr std::array<Form, 22> forms = {{{"load", &TritonMachine::load},
                                                    {"store", &TritonMachine::store},
                                                    {"atomic_add", &TritonMachine::atomic},
                                                    {"arange", &TritonMachine::arange},
                                                    {"full", &TritonMachine::full},
                                                    {"zeros", &TritonMachine::full},
                                                    {"where", &TritonMachine::where},
                                                    {"broadcast_to", &TritonMachine::broadcast},
                                                    {"reshape", &TritonMachine::first},
                                                    {"view", &TritonMachine::first},
                                                    {"promote_to_tensor", &TritonMachine::first},
                                                    {"max_contiguous", &TritonMachine::first},
                                                    {"multiple_of", &TritonMachine::first},
                                                    {"program_id", &TritonMachine::program},
                                                    {"num_programs", &TritonMachine::programs},
                                                    {"associative_scan", &TritonMachine::scan},
                                                    {"float", &TritonMachine::floatOf},
                                                    {"make_block_ptr", &TritonMachine::blockPointer},
                                                    {"device_assert", &TritonMachine::nothing},
                                                    {"debug_barrier", &TritonMachine::nothing},
                                                    {"assume", &TritonMachine::nothing},
                                                    {"advance", &TritonMachine::unknownBlock}}};
    const SyntaxNode& callee = node.items[0];
    if (callee.is(SyntaxKind::Member) && callee.text == "to") return converted(node);
    const auto form = std::ranges::find(forms, std::string_view(name.last), &Form::name);
    if (form != forms.end()) return (this->*form->run)(node);
    return reducedOrComputed(node, name);
  }

  KernelLanes reducedOrComputed(const SyntaxNode& node, const CallName& name) {
    std::vector<KernelLanes> given;
    for (std::size_t i = 0; i < node.argumentCount(); ++i) {
      if (!node.keywords[i].empty()) continue;
      given.push_back(evaluate(node.argument(i)));
      spend(given.back().size());
    }
    const double extent = m_values["R0_BLOCK"].at(0);
    if (auto reduced = reducedLanes(name.last, given, std::size_t(extent))) return *reduced;
    return KernelMachine::computed(name, given);
  }

  KernelLanes converted(const SyntaxNode& node) {
    const KernelLanes value = evaluate(node.items[0].items[0]);
    const auto type = node.argumentCount() > 0 ? typeAt(node.argument(0)) : std::nullopt;
    if (!type || node.keyword("bitcast") != nullptr || value.memory >= 0) return KernelLanes::unknown();
    spend(value.size());
    return castLanes(value, *type);
  }

  KernelLanes maskOf(const SyntaxNode& node, std::size_t place) {
    const SyntaxNode* mask = node.keyword("mask");
    if (mask == nullptr && node.argumentCount() > place && node.keywords[place].empty()) mask = &node.argument(place);
    return mask == nullptr || mask->isName("None") ? KernelLanes(1, LaneType::Bool) : evaluate(*mask);
  }

  KernelLanes load(const SyntaxNode& node) {
    const KernelLanes pointer = evaluate(node.argument(0));
    if (pointer.parts) return loadAt((*pointer.parts)[0], (*pointer.parts)[1], 0);
    const KernelLanes mask = maskOf(node, 1);
    const SyntaxNode* const other = node.keyword("other");
    const KernelLanes rest = other == nullptr ? KernelLanes(0, LaneType::Float32) : evaluate(*other);
    return loadAt(pointer, mask, rest.isUnknown ? 0 : rest.at(0));
  }

  KernelLanes write(const SyntaxNode& node, StoreMode mode) {
    if (node.argumentCount() < 2) return {};
    const KernelLanes pointer = evaluate(node.argument(0)), value = evaluate(node.argument(1));
    if (pointer.parts)
      storeAt((*pointer.parts)[0], value, (*pointer.parts)[1], mode);
    else
      storeAt(pointer, value, maskOf(node, 2), mode);
    return {};
  }
  KernelLanes store(const SyntaxNode& node) { return write(node, StoreMode::Set); }
  KernelLanes atomic(const SyntaxNode& node) { return write(node, StoreMode::Add); }

  KernelLanes arange(const SyntaxNode& node) {
    const KernelLanes from = evaluate(node.argument(0)),
                      to = node.argumentCount() > 1 ? evaluate(node.argument(1)) : from;
    const double count = to.at(0) - from.at(0);
    if (from.isUnknown || to.isUnknown || count < 1 || count > 1 << 22) return KernelLanes::unknown(LaneType::Int32);
    if (count == 1) return {from.at(0), LaneType::Int32};
    std::vector<double> lanes(std::size_t(count), 0);
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = from.at(0) + double(i);
    return {std::move(lanes), LaneType::Int32};
  }

  KernelLanes full(const SyntaxNode& node) {
    const bool isZeros = node.callee() == "tl.zeros";
    KernelLanes value = isZeros                    ? KernelLanes(0, LaneType::Int32)
                        : node.argumentCount() > 1 ? evaluate(node.argument(1))
                                                   : KernelLanes::unknown();
    const std::size_t place = isZeros ? 1 : 2;
    if (node.argumentCount() > place)
      if (const auto type = typeAt(node.argument(place))) value = castLanes(value, *type);
    const std::size_t lanes = lanesOf(node.argument(0));
    return lanes == 0 ? KernelLanes::unknown(value.type) : value.spread(lanes);
  }

  KernelLanes broadcast(const SyntaxNode& node) {
    const KernelLanes value = evaluate(node.argument(0));
    const std::size_t lanes = node.argumentCount() > 1 ? lanesOf(node.argument(1)) : 0;
    return lanes == 0 ? KernelLanes::unknown(value.type) : value.spread(lanes);
  }

  KernelLanes where(const SyntaxNode& node) {
    if (node.argumentCount() < 3) return KernelLanes::unknown();
    const KernelLanes condition = evaluate(node.argument(0)), a = evaluate(node.argument(1)),
                      b = evaluate(node.argument(2));
    spend(condition.size());
    return chooseLanes(condition, a, b);
  }

  KernelLanes first(const SyntaxNode& node) {
    return node.argumentCount() > 0 ? evaluate(node.argument(0)) : KernelLanes::unknown();
  }
  KernelLanes nothing(const SyntaxNode&) { return {}; }
  KernelLanes unknownBlock(const SyntaxNode& node) {
    stop(node, "moves a block pointer");
    return KernelLanes::unknown();
  }
  std::size_t axisOf(const SyntaxNode& node) {
    const auto axis = node.argumentCount() > 0 ? node.argument(0).integer() : std::nullopt;
    return axis && *axis >= 0 && *axis < 3 ? std::size_t(*axis) : 0;
  }
  KernelLanes program(const SyntaxNode& node) { return {m_program[axisOf(node)], LaneType::Int32}; }
  /// A grid that is too long for y goes on in z: here y has no limit.
  KernelLanes programs(const SyntaxNode& node) { return {m_programs[axisOf(node)], LaneType::Int32}; }

  KernelLanes floatOf(const SyntaxNode& node) {
    if (node.argumentCount() == 0) return KernelLanes::unknown();
    const SyntaxNode& text = node.argument(0);
    if (!text.is(SyntaxKind::Text)) return castLanes(evaluate(text), LaneType::Float32);
    const double endless = std::numeric_limits<double>::infinity();
    if (text.text == "inf" || text.text == "+inf") return {endless, LaneType::Float32};
    if (text.text == "-inf") return {-endless, LaneType::Float32};
    return text.text == "nan" ? KernelLanes(std::numeric_limits<double>::quiet_NaN(), LaneType::Float32)
                              : KernelLanes::unknown();
  }

  KernelLanes blockPointer(const SyntaxNode& node) {
    const KernelLanes base = node.argumentCount() > 0 ? evaluate(node.argument(0)) : KernelLanes::unknown();
    BlockShape shape;
    for (const auto& [keyword, into] : {std::pair("shape", &shape.sizes), std::pair("strides", &shape.strides),
                                        std::pair("block_shape", &shape.block), std::pair("offsets", &shape.offsets)}) {
      const SyntaxNode* const list = node.keyword(keyword);
      if (list == nullptr) return KernelLanes::unknown();
      for (const SyntaxNode& each : list->items) {
        const KernelLanes value = evaluate(each);
        if (value.isUnknown || !value.isOne()) return KernelLanes::unknown();
        into->push_back(value.at(0));
      }
    }
    const auto places = blockPlaces(base, shape);
    return places ? tupleOf({places->first, places->second}) : KernelLanes::unknown();
  }

  /// Of a function that the kernel's text defines, for one element after the other.
  KernelLanes scan(const SyntaxNode& node) {
    if (node.argumentCount() < 3) return KernelLanes::unknown();
    const KernelLanes given = evaluate(node.argument(0));
    const auto function = m_functions.find(node.argument(2).text);
    if (!given.parts || given.isUnknown || function == m_functions.end() || node.keyword("reverse") != nullptr)
      return KernelLanes::unknown();
    const std::size_t width = given.parts->size(), count = (*given.parts)[0].size();
    std::vector<std::vector<double>> results(width, std::vector<double>(count));
    std::vector<KernelLanes> kept;
    for (std::size_t i = 0; i < count && !isStopped(); ++i) {
      std::vector<KernelLanes> next;
      for (const KernelLanes& part : *given.parts) next.push_back({part.at(i), part.type});
      kept = i == 0 ? next : combined(*function->second, kept, next);
      if (kept.size() != width) return KernelLanes::unknown();
      for (std::size_t k = 0; k < width; ++k) {
        if (kept[k].isUnknown) return KernelLanes::unknown();
        results[k][i] = kept[k].at(0);
      }
    }
    std::vector<KernelLanes> parts;
    for (std::size_t k = 0; k < width; ++k) parts.emplace_back(std::move(results[k]), (*given.parts)[k].type);
    return tupleOf(std::move(parts));
  }

  std::vector<KernelLanes> combined(const SyntaxNode& function, const std::vector<KernelLanes>& a,
                                    const std::vector<KernelLanes>& b) {
    const std::vector<SyntaxNode>& names = function.items[0].items;
    if (names.size() != a.size() + b.size()) return {};
    for (std::size_t i = 0; i < names.size(); ++i) m_values[names[i].text] = i < a.size() ? a[i] : b[i - a.size()];
    m_hasReturned = false;
    block(function.items[1]);
    m_hasReturned = false;
    return m_returned.parts ? *m_returned.parts : std::vector<KernelLanes>{m_returned};
  }

  SyntaxNode m_module;
  const SyntaxNode* m_kernel = nullptr;
  std::unordered_map<std::string, const SyntaxNode*> m_functions;
  std::array<double, 3> m_program{}, m_programs{};
  KernelLanes m_returned;
  bool m_hasReturned = false;
};

}  // namespace

std::unique_ptr<KernelMachine> tritonMachine(std::string_view name, std::string_view text, RunBudget& budget) {
  return std::make_unique<TritonMachine>(name, text, budget);
}

}  // namespace kerf::inline audit
