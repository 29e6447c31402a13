#include "engine/audit/meaning/program_run.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/audit/meaning/kernel_texts.h"

namespace kerf::inline audit {
namespace {

using Kind = RunValue::Kind;

class Wrapper {
 public:
  explicit Wrapper(const RunContext& context) : m_context(context), m_kernels(kernelTexts(context.program.module)) {}

  RunOutcome run() {
    block(m_context.program.call->items[1]);
    for (const std::string& name : m_context.kept)
      if (const auto unused = m_pending.find(name); unused != m_pending.end())
        m_inputs[name] = fromValue(unused->second);
    for (auto& [name, value] : m_inputs) m_outcome.inputs[name] = value;
    return std::move(m_outcome);
  }

 private:
  // --- statements ---------------------------------------------------------------------------------------------------

  void stop(const SyntaxNode& node, std::string_view why) {
    if (m_outcome.problem.empty()) m_outcome.problem = fmt::format("line {} {}", node.line, why);
  }

  void block(const SyntaxNode& node) {
    for (const SyntaxNode& each : node.items) {
      if (!m_outcome.problem.empty() || m_hasReturned) return;
      if (m_context.budget.isSpent()) return stop(each, "is where this became too much to run");
      statement(each);
    }
  }

  void statement(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxKind::Assign:
        return assign(node);
      case SyntaxKind::Expression:
        return expression(node.items[0]);
      case SyntaxKind::Delete:
        for (const SyntaxNode& each : node.items) {
          m_values.erase(each.text);
          m_pending.erase(each.text);
        }
        return;
      case SyntaxKind::Return: {
        m_outcome.line = node.line;
        m_hasReturned = true;
        if (!node.items.empty()) m_outcome.returned = evaluate(node.items[0]).items;
        return;
      }
      case SyntaxKind::With:
        return block(node.items[1]);
      case SyntaxKind::Block:
        return block(node);
      case SyntaxKind::Import:
      case SyntaxKind::Pragma:
      case SyntaxKind::Define:
        return;
      default:
        stop(node, "is a statement that is not run here");
    }
  }

  void assign(const SyntaxNode& node) {
    const SyntaxNode& target = node.items[0];
    if (node.items[1].isName("args")) return bindInputs(target);
    RunValue value = evaluate(node.items[1]);
    if (target.is(SyntaxKind::Name)) {
      m_values[target.text] = std::move(value);
      return;
    }
    if (!target.is(SyntaxKind::Tuple)) return;
    for (std::size_t i = 0; i < target.items.size(); ++i)
      m_values[target.items[i].text] = i < value.items.size() ? value.items[i] : RunValue();
  }

  void bindInputs(const SyntaxNode& target) {
    const std::vector<SyntaxNode> one{target};
    for (const SyntaxNode& each : target.is(SyntaxKind::Tuple) ? target.items : one) {
      const auto given = m_context.inputs.find(each.text);
      if (given == m_context.inputs.end()) return stop(target, "takes what is no input of the graph");
      m_pending[each.text] = given->second;
    }
  }

  RunValue fromValue(const Value& value) {
    if (value.isNone()) return otherValue({});
    if (value.isList()) {
      RunValue list;
      list.kind = Kind::List;
      for (const Value& each : value.list()) list.items.push_back(fromValue(each));
      return list;
    }
    if (!value.isTensor()) return numberValue(value);
    const auto numbers = numbersOf(value.tensor());
    return numbers ? tensorValue(*numbers, value.tensor().strides()) : RunValue();
  }

  void expression(const SyntaxNode& node) {
    const std::string callee = node.callee();
    static constexpr std::array<std::string_view, 6> idle = {
        "args.clear", "assert_alignment",    "torch.cuda.set_device", "torch.cuda.synchronize",
        "nvtx",       "torch.xpu.set_device"};
    if (std::ranges::find(idle, callee) != idle.end()) return;
    if (callee == "assert_size_stride") return layOut(node);
    (void)evaluate(node);
  }

  /// What an operator returned lies as the program asserts.
  void layOut(const SyntaxNode& node) {
    if (node.argumentCount() < 3 || !node.argument(0).is(SyntaxKind::Name)) return;
    const auto found = m_values.find(node.argument(0).text);
    const auto sizes = sizesOf(node.argument(1)), strides = sizesOf(node.argument(2));
    if (found == m_values.end() || found->second.kind != Kind::Tensor || !sizes || !strides) return;
    RunTensor& tensor = found->second.tensor;
    if (m_inputNames.contains(found->first) || tensor.sizes != *sizes || strides->size() != sizes->size() ||
        tensor.strides == *strides || !tensor.memory->isResult)
      return;
    const DenseNumbers numbers = tensor.numbers();
    const auto writer = m_outcome.writers.find(tensor.memory.get());
    const int call = writer == m_outcome.writers.end() ? -1 : writer->second;
    if (!numbers.isKnown || spanOf(*sizes, *strides) > std::int64_t(1) << 27) return;
    RunValue laid = tensorValue(numbers, *strides);
    laid.tensor.memory->type = tensor.memory->type;
    laid.tensor.memory->isResult = true;
    found->second = laid;
    if (call >= 0) m_outcome.writers[laid.tensor.memory.get()] = call;
  }

  // --- expressions --------------------------------------------------------------------------------------------------

  std::optional<Sizes> sizesOf(const SyntaxNode& node) {
    if (!node.is(SyntaxKind::Tuple)) return std::nullopt;
    Sizes sizes;
    for (const SyntaxNode& each : node.items) {
      const auto size = realOf(evaluate(each));
      if (!size || *size < -0.5) return std::nullopt;
      sizes.push_back(std::int64_t(*size));
    }
    return sizes;
  }

  RunValue evaluate(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxKind::Name:
        return named(node);
      case SyntaxKind::Number:
        return numberOf(node);
      case SyntaxKind::Text:
        return otherValue(node.text);
      case SyntaxKind::Tuple: {
        RunValue list;
        list.kind = Kind::List;
        for (const SyntaxNode& each : node.items) list.items.push_back(evaluate(each));
        return list;
      }
      case SyntaxKind::Item: {
        const RunValue base = evaluate(node.items[0]);
        const auto index = node.items.size() == 2 ? node.items[1].integer() : std::nullopt;
        return index && *index >= 0 && std::size_t(*index) < base.items.size() ? base.items[std::size_t(*index)]
                                                                               : RunValue();
      }
      case SyntaxKind::Member: {
        const auto dtype = dtypeFromTorchName(node.dotted());
        return dtype ? otherValue(isFloating(*dtype) ? DType::Float64 : *dtype) : RunValue();
      }
      case SyntaxKind::Unary:
      case SyntaxKind::Binary:
        return arithmetic(node);
      case SyntaxKind::Call:
        return call(node);
      default:
        return {};
    }
  }

  RunValue numberOf(const SyntaxNode& node) {
    if (const auto whole = node.integer()) return numberValue(*whole);
    return numberValue(std::strtod(node.text.c_str(), nullptr));
  }

  RunValue named(const SyntaxNode& node) {
    if (node.text == "None") return otherValue({});
    if (node.text == "True" || node.text == "False") return numberValue(node.text == "True");
    if (node.text == "inf") return numberValue(INFINITY);
    if (node.text == "nan") return numberValue(double(NAN));
    if (const auto found = m_values.find(node.text); found != m_values.end()) return found->second;
    if (const auto input = m_pending.find(node.text); input != m_pending.end()) {
      // Copied where it is first used, and gone with its name.
      RunValue& value = m_values[node.text] = fromValue(input->second);
      m_pending.erase(input);
      if (m_context.kept.contains(node.text)) m_inputs[node.text] = value;
      m_inputNames.insert(node.text);
      return value;
    }
    if (const TensorAttribute* const constant = m_context.graph.attribute(node.text)) {
      m_values[node.text] = fromValue(constant->tensor);
      return m_values[node.text];
    }
    return {};
  }

  RunValue arithmetic(const SyntaxNode& node) {
    const auto a = realOf(evaluate(node.items[0]));
    if (!a) return {};
    if (node.is(SyntaxKind::Unary)) {
      if (node.text != "-") return {};
      return node.items[0].integer() || *a == std::trunc(*a) ? numberValue(std::int64_t(-*a)) : numberValue(-*a);
    }
    const auto b = realOf(evaluate(node.items[1]));
    if (!b) return {};
    return calculated(node.text, *a, *b);
  }

  RunValue call(const SyntaxNode& node) {
    std::string callee = node.callee();
    if (callee.ends_with(".run")) callee.resize(callee.size() - 4);
    if (const auto kernel = m_kernels.find(callee); kernel != m_kernels.end()) return launch(kernel->second, node);
    if (callee.starts_with("empty_strided") || callee.starts_with("torch.empty_strided")) return allocate(node, 0);
    if (callee == "alloc_from_pool") return allocate(node, 3);
    if (callee == "reinterpret_tensor") return reinterpret(node);
    if (callee == "max" || callee == "min" || callee == "Max" || callee == "Min")
      return extreme(node, callee[1] == 'a');
    if (callee == "get_raw_stream" || callee.starts_with("torch.cuda.") || callee == "device") return otherValue({});
    if (callee.ends_with(".copy_")) return copyInto(node);
    if (callee == "aten.randint.low_out") return drawSeeds(node);
    return external(node, callee);
  }

  RunValue extreme(const SyntaxNode& node, bool isMax) {
    std::optional<double> best;
    for (std::size_t i = 0; i < node.argumentCount(); ++i) {
      const auto each = realOf(evaluate(node.argument(i)));
      if (!each) return {};
      best = !best ? *each : isMax ? std::max(*best, *each) : std::min(*best, *each);
    }
    return best ? numberValue(std::int64_t(*best)) : RunValue();
  }

  RunValue allocate(const SyntaxNode& node, std::size_t at) {
    RunValue value;
    if (node.argumentCount() < at + 2) return value;
    const auto sizes = sizesOf(node.argument(at)), strides = sizesOf(node.argument(at + 1));
    const SyntaxNode* const type = node.keyword("dtype") != nullptr ? node.keyword("dtype")
                                   : node.argumentCount() > 2       ? &node.argument(2)
                                                                    : nullptr;
    const auto dtype = dtypeFromTorchName(type == nullptr ? std::string() : type->dotted());
    if (!sizes || !strides || !dtype || isComplex(dtype.value_or(DType::Complex64)) || sizes->size() != strides->size())
      return value;
    const std::int64_t span = spanOf(*sizes, *strides);
    m_elements += span;
    if (m_elements > mostElements) {
      stop(node, "allocates more than is run here");
      return value;
    }
    value.kind = Kind::Tensor;
    value.tensor = {
        std::make_shared<RunMemory>(laneTypeOf(elementType(dtypeInfo(dtype.value_or(DType::Float32)).torchName)),
                                    std::size_t(span)),
        *sizes, *strides, 0, dtype.value_or(DType::Float32)};
    return value;
  }

  RunValue reinterpret(const SyntaxNode& node) {
    RunValue value = node.argumentCount() < 4 ? RunValue() : evaluate(node.argument(0));
    if (value.kind != Kind::Tensor) return {};
    const auto sizes = sizesOf(node.argument(1)), strides = sizesOf(node.argument(2));
    const auto offset = realOf(evaluate(node.argument(3)));
    if (!sizes || !strides || !offset) return {};
    RunTensor& tensor = value.tensor;
    tensor.sizes = *sizes;
    tensor.strides = *strides;
    tensor.offset += std::int64_t(*offset);
    const bool isInside =
        countOf(*sizes) == 0 ||
        (tensor.offset >= 0 && tensor.offset + spanOf(*sizes, *strides) <= std::int64_t(tensor.memory->values.size()));
    return isInside ? value : RunValue();
  }

  // --- calls --------------------------------------------------------------------------------------------------------

  int newCall(const SyntaxNode& node, std::string name) {
    RunCall made;
    made.line = node.line;
    made.name = std::move(name);
    m_outcome.calls.push_back(std::move(made));
    return int(m_outcome.calls.size()) - 1;
  }

  void reads(int call, const RunValue& value) {
    for (const RunValue& each : value.items) reads(call, each);
    if (value.kind != Kind::Tensor) return;
    const auto writer = m_outcome.writers.find(value.tensor.memory.get());
    if (writer != m_outcome.writers.end() && writer->second != call)
      m_outcome.calls[std::size_t(call)].reads.push_back(writer->second);
  }

  void writes(int call, const RunValue& value) {
    for (const RunValue& each : value.items) writes(call, each);
    if (value.kind != Kind::Tensor) return;
    m_outcome.writers[value.tensor.memory.get()] = call;
    if (!m_context.isNode) return;
    const DenseNumbers numbers = value.tensor.numbers();
    if (!numbers.isKnown) return;
    RunCall& made = m_outcome.calls[std::size_t(call)];
    made.isNode = (!made.hasResult || made.isNode) && m_context.isNode(ValueMark::of(numbers));
    made.hasResult = true;
  }

  RunValue launch(ProgramKernel& kernel, const SyntaxNode& node) {
    const int call = newCall(node, kernel.name);
    std::vector<RunArgument> arguments;
    std::vector<RunValue> given;
    bool isKnown = true;
    for (std::size_t i = 0; i < node.argumentCount(); ++i) {
      if (!node.keywords[i].empty()) continue;
      given.push_back(evaluate(node.argument(i)));
      const RunValue& value = given.back();
      const auto number = realOf(value);
      isKnown = isKnown && (number || value.kind == Kind::Tensor);
      if (value.kind == Kind::Tensor)
        arguments.push_back({value.tensor.memory.get(), double(value.tensor.offset)});
      else
        arguments.push_back({nullptr, number.value_or(0)});
      reads(call, value);
    }
    const auto model = m_context.program.kernels.find(
        node.callee().ends_with(".run") ? node.callee().substr(0, node.callee().size() - 4) : node.callee());
    std::string problem = isKnown ? std::string() : "an argument is not known";
    if (problem.empty()) {
      if (kernel.machine == nullptr)
        kernel.machine = kernel.isTriton ? tritonMachine(kernel.name, kernel.text->text, m_context.budget)
                                         : cppMachine(kernel.text->text, m_context.budget);
      problem = kernel.machine->run(arguments);
    }
    m_outcome.calls[std::size_t(call)].problem = problem;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i].kind != Kind::Tensor) continue;
      const bool isOut =
          model == m_context.program.kernels.end() || i >= model->second.parameters.size() ||
          (model->second.parameters[i].name.find("out") != std::string::npos && !model->second.parameters[i].isConst);
      if (!isOut) continue;
      if (!problem.empty()) given[i].tensor.memory->blur();
      writes(call, given[i]);
    }
    return {};
  }

  RunValue copyInto(const SyntaxNode& node) {
    const RunValue to = evaluate(node.items[0].items[0]);
    const RunValue from = node.argumentCount() > 0 ? evaluate(node.argument(0)) : RunValue();
    const int call = newCall(node, "copy_");
    reads(call, from);
    if (to.kind != Kind::Tensor) return {};
    const DenseNumbers numbers = from.kind == Kind::Tensor ? from.tensor.numbers() : DenseNumbers();
    if (from.kind != Kind::Tensor || !numbers.isKnown || !to.tensor.write(numbers)) to.tensor.memory->blur();
    writes(call, to);
    return to;
  }

  /// As inductor_seeds is drawn.
  RunValue drawSeeds(const SyntaxNode& node) {
    const SyntaxNode* const out = node.keyword("out");
    const RunValue to = out == nullptr ? RunValue() : evaluate(*out);
    if (to.kind != Kind::Tensor) return {};
    DenseNumbers seeds = to.tensor.numbers();
    for (std::size_t i = 0; i < seeds.values.size(); ++i) seeds.values[i] = double(i + 1);
    seeds.isKnown = true;
    (void)to.tensor.write(seeds);
    writes(newCall(node, "aten.randint.low_out"), to);
    return to;
  }

  Result<Value> toValue(const RunValue& value) {
    if (value.kind == Kind::List) {
      ValueList items;
      for (const RunValue& each : value.items) {
        KERF_TRY(Value item, toValue(each));
        items.push_back(std::move(item));
      }
      return Value(std::move(items));
    }
    if (value.kind == Kind::Unknown) return fail(ErrorCode::UnsupportedOp, "an operand is not known");
    if (value.kind != Kind::Tensor) return value.number;
    const DenseNumbers numbers = value.tensor.numbers();
    if (!numbers.isKnown) return fail(ErrorCode::UnsupportedOp, "an operand is not known");
    KERF_TRY(Tensor tensor, tensorOf(numbers));
    return Value(std::move(tensor));
  }

  static std::string targetOf(std::string callee) {
    constexpr std::string_view kernels = "extern_kernels.";
    if (callee.starts_with(kernels)) return "torch.ops.aten." + callee.substr(kernels.size()) + ".default";
    if (callee.starts_with("aten.")) return "torch.ops." + callee;
    return callee.starts_with("torch.ops.") ? callee : std::string();
  }

  RunValue external(const SyntaxNode& node, const std::string& callee) {
    const std::string target = targetOf(callee);
    const int call = newCall(node, callee.empty() ? "a call" : callee);
    ValueList args;
    KeywordValues kwargs;
    std::optional<RunValue> out;
    std::vector<RunValue> given;
    const bool isRandom = callee.find(".rand") != std::string::npos || callee.find("bernoulli") != std::string::npos ||
                          callee.find("multinomial") != std::string::npos || callee.find("normal") != std::string::npos;
    std::string problem = target.empty() ? "it is not known" : isRandom ? "it draws numbers" : "";
    for (std::size_t i = 0; i < node.argumentCount(); ++i) {
      const std::string& keyword = node.keywords[i];
      RunValue value = evaluate(node.argument(i));
      if (keyword == "out") {
        out = value;
        continue;
      }
      given.push_back(value);
      reads(call, value);
      if (keyword == "device" || keyword == "layout" || keyword == "pin_memory") continue;
      auto converted = toValue(value);
      if (!converted) {
        problem = converted.error().message;
        break;
      }
      if (keyword.empty())
        args.push_back(std::move(*converted));
      else
        kwargs.emplace_back(keyword, std::move(*converted));
    }
    return finish(node, call, target, problem, args, kwargs, given, out);
  }

  RunValue finish(const SyntaxNode& node, int call, const std::string& target, std::string problem,
                  const ValueList& args, const KeywordValues& kwargs, std::vector<RunValue>& given,
                  const std::optional<RunValue>& out) {
    RunValue result;
    if (problem.empty()) {
      const auto value = m_context.ops.call(OpTarget(target), args, kwargs);
      if (value) {
        result = fromValue(*value);
      } else {
        problem = value.error().message;
        if (value.error().code == ErrorCode::NotFound && m_outcome.mismatchLine == 0) {
          m_outcome.mismatchLine = node.line;
          m_outcome.mismatch = problem;
        }
      }
    }
    m_outcome.calls[std::size_t(call)].problem = problem;
    const std::string_view op = std::string_view(target).substr(0, target.rfind('.'));
    const bool writesOperand = op.ends_with('_') && !given.empty() && given[0].kind == Kind::Tensor;
    if (!problem.empty() && target.empty())
      for (RunValue& each : given)
        if (each.kind == Kind::Tensor) each.tensor.memory->blur();
    std::optional<RunValue> into = out;
    if (writesOperand) into = given[0];
    if (into && into->kind == Kind::Tensor) {
      const DenseNumbers numbers = result.kind == Kind::Tensor ? result.tensor.numbers() : DenseNumbers();
      if (result.kind != Kind::Tensor || !into->tensor.write(numbers)) into->tensor.memory->blur();
      writes(call, *into);
      return *into;
    }
    remember(result);
    writes(call, result);
    return result;
  }

  void remember(const RunValue& value) {
    for (const RunValue& each : value.items) remember(each);
    if (value.kind == Kind::Tensor) value.tensor.memory->isResult = true;
  }

  static constexpr std::int64_t mostElements = std::int64_t(1) << 28;
  const RunContext& m_context;
  std::map<std::string, ProgramKernel, std::less<>> m_kernels;
  RunOutcome m_outcome;
  std::map<std::string, RunValue, std::less<>> m_values, m_inputs;
  std::map<std::string, Value, std::less<>> m_pending;  ///< inputs that nothing has used yet
  std::set<std::string, std::less<>> m_inputNames;
  std::int64_t m_elements = 0;
  bool m_hasReturned = false;
};

}  // namespace

RunOutcome runProgram(const RunContext& context) { return Wrapper(context).run(); }

}  // namespace kerf::inline audit
