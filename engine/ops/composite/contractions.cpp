// einsum and tensordot: contractions by labels, as a chain of batched products.
#include <algorithm>
#include <map>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

using Labels =
    std::vector<int>;  ///< one per dimension; letters as their codes, dimensions of "..." as negative numbers

constexpr std::size_t mostLabels = 64;

bool contains(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

struct Operand {
  Tensor tensor;
  Labels labels;
};

struct Equation {
  std::vector<Labels> operands;
  Labels output;
};

/// "ij,jk->ik" against the operands' ranks. A missing right side has the labels that occur once, in alphabetical order.
class EquationReader {
 public:
  EquationReader(const BoundArguments& args, std::string_view text) : m_args(args) {
    for (const char c : text)
      if (c != ' ') m_text += c;
  }

  Result<Equation> read(const std::vector<Tensor>& tensors) {
    Equation equation;
    const std::size_t arrow = m_text.find("->");
    std::string_view left = std::string_view(m_text).substr(0, arrow);
    for (const Tensor& tensor : tensors) {
      const std::size_t comma = std::min(left.find(','), left.size());
      KERF_TRY(Labels labels, readTerm(left.substr(0, comma), tensor.dim()));
      equation.operands.push_back(std::move(labels));
      left.remove_prefix(std::min(comma + 1, left.size()));
    }
    if (!left.empty() || equation.operands.empty())
      return mismatch(m_args, "'{}' does not fit {} operands", m_text, tensors.size());
    if (arrow == std::string::npos) {
      for (int i = m_ellipsis; i > 0; --i) equation.output.push_back(-i);
      for (const auto& [label, count] : m_counts)
        if (count == 1 && label > 0) equation.output.push_back(label);
      return equation;
    }
    KERF_TRY(equation.output, readTerm(std::string_view(m_text).substr(arrow + 2), -1));
    for (std::size_t i = 0; i < equation.output.size(); ++i)
      if (!m_counts.contains(equation.output[i]) || std::ranges::count(equation.output, equation.output[i]) > 1)
        return mismatch(m_args, "'{}' has an output that its operands do not give", m_text);
    return equation;
  }

 private:
  /// One term's labels; `rank` -1 for the output, whose "..." has the widest one's dimensions.
  Result<Labels> readTerm(std::string_view term, std::int64_t rank) {
    Labels labels;
    const std::size_t dots = term.find("...");
    const auto letters = std::int64_t(term.size()) - (dots == std::string_view::npos ? 0 : 3);
    const std::int64_t hidden = dots == std::string_view::npos ? 0 : rank < 0 ? m_ellipsis : rank - letters;
    if (hidden < 0 || (rank >= 0 && letters + hidden != rank) || term.size() > mostLabels)
      return mismatch(m_args, "'{}' does not fit an operand of {} dimensions", term, rank);
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (i == dots) {
        for (std::int64_t d = hidden; d > 0; --d) labels.push_back(int(-d));
        i += 2;
        continue;
      }
      if (std::isalpha(static_cast<unsigned char>(term[i])) == 0)
        return mismatch(m_args, "'{}' is not an einsum equation", m_text);
      labels.push_back(term[i]);
    }
    if (rank >= 0) {
      m_ellipsis = std::max(m_ellipsis, int(hidden));
      for (const int label : labels) ++m_counts[label];
    }
    return labels;
  }

  const BoundArguments& m_args;
  std::string m_text;
  std::map<int, int> m_counts;
  int m_ellipsis = 0;
};

/// Contracts operands from left to right.
class Contraction {
 public:
  Contraction(const BoundArguments& args, const OpRunner& run) : m_args(args), m_run(run) {}

  Result<Value> run(std::vector<Operand> operands, const Labels& output) {
    for (Operand& operand : operands) KERF_CHECK(takeDiagonals(operand));
    KERF_CHECK(measure(operands));
    Operand result = operands.front();
    for (std::size_t i = 1; i < operands.size(); ++i) {
      Labels kept = output;
      for (std::size_t j = i + 1; j < operands.size(); ++j)
        kept.insert(kept.end(), operands[j].labels.begin(), operands[j].labels.end());
      KERF_TRY(result, pair(std::move(result), operands[i], kept));
    }
    KERF_CHECK(sumOut(result, output));
    KERF_CHECK(arrange(result, output));
    return Value(result.tensor);
  }

 private:
  Result<Tensor> tensorBy(std::string_view target, const ValueList& values) {
    KERF_TRY(const Value value, m_run.value(target, values, {}));
    return value.tensor();
  }

  /// A label twice in one operand takes the diagonal.
  Result<void> takeDiagonals(Operand& operand) {
    for (std::size_t i = 0; i < operand.labels.size(); ++i)
      for (std::size_t j = i + 1; j < operand.labels.size(); ++j) {
        if (operand.labels[i] != operand.labels[j]) continue;
        const auto a = std::int64_t(i), b = std::int64_t(j);
        if (guardOrFalse(operand.tensor.symSize(a) != operand.tensor.symSize(b)))
          return mismatch(m_args, "a repeated label has two sizes");
        KERF_TRY(operand.tensor, tensorBy("aten.diagonal.default", {operand.tensor, std::int64_t{0}, a, b}));
        const int label = operand.labels[i];
        operand.labels.erase(operand.labels.begin() + b);
        operand.labels.erase(operand.labels.begin() + a);
        operand.labels.push_back(label);  // diagonal puts it last
        return takeDiagonals(operand);
      }
    return {};
  }

  /// The size of each label; 1 broadcasts.
  Result<void> measure(const std::vector<Operand>& operands) {
    for (const Operand& operand : operands)
      for (std::size_t d = 0; d < operand.labels.size(); ++d) {
        const SymInt size = operand.tensor.symSize(std::int64_t(d));
        SymInt& known = m_sizes.try_emplace(operand.labels[d], size).first->second;
        if (guardOrFalse(known == 1)) known = size;
        if (guardOrFalse(size != known) && guardOrFalse(size != 1))
          return mismatch(m_args, "a label has the sizes {} and {}", known, size);
      }
    return {};
  }

  /// Sums over the labels that `kept` lacks.
  Result<void> sumOut(Operand& operand, const Labels& kept) {
    Sizes dims;
    Labels left;
    for (std::size_t d = 0; d < operand.labels.size(); ++d)
      if (contains(kept, operand.labels[d]))
        left.push_back(operand.labels[d]);
      else
        dims.push_back(std::int64_t(d));
    if (dims.empty()) return {};
    KERF_TRY(operand.tensor, tensorBy("aten.sum.dim_IntList", {operand.tensor, intList(dims), false}));
    operand.labels = std::move(left);
    return {};
  }

  /// Permutes to `order`, adding dimensions of 1 for labels that the operand lacks, and broadcasts to the labels'
  /// sizes.
  Result<void> arrange(Operand& operand, const Labels& order) {
    Sizes dims;
    SymSizes shape, full;
    for (const int label : order) {
      const auto found = std::ranges::find(operand.labels, label);
      const bool has = found != operand.labels.end();
      if (has) dims.push_back(found - operand.labels.begin());
      shape.push_back(has ? operand.tensor.symSize(dims.back()) : SymInt(1));
      full.push_back(m_sizes.contains(label) ? m_sizes[label] : SymInt(1));
    }
    KERF_TRY(Tensor turned, tensorBy("aten.permute.default", {operand.tensor, intList(dims)}));
    if (dims.size() != shape.size()) {
      KERF_TRY(turned, tensorBy("aten.reshape.default", {turned, intList(shape)}));
    }
    KERF_TRY(operand.tensor, tensorBy("aten.expand.default", {turned, intList(full)}));
    operand.labels = order;
    return {};
  }

  Result<SymInt> product(const Labels& labels) {
    SymSizes sizes;
    for (const int label : labels) sizes.push_back(m_sizes[label]);
    return checkedCount(sizes);
  }

  /// Arranged as [batch, rows, columns] of the given groups of labels.
  Result<Tensor> matrix(Operand operand, const Labels& batch, const Labels& rows, const Labels& columns) {
    Labels order = batch;
    order.insert(order.end(), rows.begin(), rows.end());
    order.insert(order.end(), columns.begin(), columns.end());
    KERF_CHECK(arrange(operand, order));
    KERF_TRY(const SymInt b, product(batch));
    KERF_TRY(const SymInt m, product(rows));
    KERF_TRY(const SymInt n, product(columns));
    return tensorBy("aten.reshape.default", {operand.tensor, intList({b, m, n})});
  }

  Result<Operand> pair(Operand a, Operand b, const Labels& kept) {
    Labels neededByA = kept, neededByB = kept;
    neededByA.insert(neededByA.end(), b.labels.begin(), b.labels.end());
    neededByB.insert(neededByB.end(), a.labels.begin(), a.labels.end());
    KERF_CHECK(sumOut(a, neededByA));
    KERF_CHECK(sumOut(b, neededByB));
    Labels batch, summed, onlyA, onlyB;
    for (const int label : a.labels)
      (!contains(b.labels, label) ? onlyA : contains(kept, label) ? batch : summed).push_back(label);
    for (const int label : b.labels)
      if (!contains(a.labels, label)) onlyB.push_back(label);
    KERF_TRY(const Tensor left, matrix(std::move(a), batch, onlyA, summed));
    KERF_TRY(const Tensor right, matrix(std::move(b), batch, summed, onlyB));
    KERF_TRY(const Tensor out, tensorBy("aten.bmm.default", {left, right}));
    Operand result{{}, batch};
    result.labels.insert(result.labels.end(), onlyA.begin(), onlyA.end());
    result.labels.insert(result.labels.end(), onlyB.begin(), onlyB.end());
    SymSizes sizes;
    for (const int label : result.labels) sizes.push_back(m_sizes[label]);
    KERF_TRY(result.tensor, tensorBy("aten.reshape.default", {out, intList(sizes)}));
    return result;
  }

  const BoundArguments& m_args;
  const OpRunner& m_run;
  std::map<int, SymInt> m_sizes;
};

/// einsum(equation, tensors, *, path).
Result<Value> einsumProgram(const BoundArguments& args, const OpRunner& run) {
  const std::vector<Tensor> tensors = args.tensors(1);
  KERF_TRY(const Equation equation, EquationReader(args, args.text(0)).read(tensors));
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < tensors.size(); ++i) operands.push_back({tensors[i], equation.operands[i]});
  return Contraction(args, run).run(std::move(operands), equation.output);
}

/// tensordot(self, other, dims_self, dims_other).
Result<Value> tensordotProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor &a = args.tensor(0), &b = args.tensor(1);
  KERF_TRY(const Sizes dimsA, wrapDims(args, args.sizes(2), a.dim()));
  KERF_TRY(const Sizes dimsB, wrapDims(args, args.sizes(3), b.dim()));
  if (dimsA.size() != dimsB.size())
    return mismatch(args, "{} dimensions cannot be contracted with {}", dimsA.size(), dimsB.size());
  Labels labelsA, labelsB, output;
  for (std::int64_t d = 0; d < a.dim(); ++d) labelsA.push_back(int(d + 1));
  for (std::int64_t d = 0; d < b.dim(); ++d) labelsB.push_back(int(a.dim() + d + 1));
  for (std::size_t i = 0; i < dimsA.size() && a.dim() > 0 && b.dim() > 0; ++i)
    labelsB[std::size_t(dimsB[i])] = labelsA[std::size_t(dimsA[i])];
  for (const int label : labelsA)
    if (!contains(labelsB, label)) output.push_back(label);
  for (const int label : labelsB)
    if (!contains(labelsA, label)) output.push_back(label);
  return Contraction(args, run).run({{a, labelsA}, {b, labelsB}}, output);
}

constexpr OpRow contractionRows[] = {
    compositeRow(einsumProgram, "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
                 OpTrait::Matmul),
    compositeRow(tensordotProgram,
                 "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
                 OpTrait::Matmul),
};

const OpRegistration contractionOps({.rows = contractionRows});

}  // namespace

}  // namespace kerf::inline ops
