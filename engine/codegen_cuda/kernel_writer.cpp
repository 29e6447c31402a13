#include "engine/codegen_cuda/kernel_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline codegen_cuda {

KernelWriter::KernelWriter(const LoopKernel& kernel, std::string name, const std::vector<std::string>& origins,
                           KernelTarget target)
    : m_kernel(kernel), m_name(std::move(name)), m_origins(origins), m_place(placeExpressions(kernel)) {
  findNeeded();
  m_shape = chooseShape(kernel, m_place, m_needed, target);
  m_lastPhase = m_place.phase.empty() ? 0 : *std::ranges::max_element(m_place.phase);
  for (std::size_t v = 0; v < kernel.variables.size(); ++v) m_index.push_back(fmt::format("i{}", v));
  for (auto* list : {&m_outerValues, &m_values, &m_inverses}) list->assign(kernel.exprs.size(), {});
  for (auto* list : {&m_packed, &m_cached, &m_tiled}) list->assign(kernel.exprs.size(), false);
  m_quotients.assign(kernel.exprs.size(), Quotient::Divided);
  m_tileAt.assign(kernel.exprs.size(), 0);
  m_keptFrom.assign(kernel.exprs.size(), -1);
  planInverses();
  planNarrowSums();
}

void KernelWriter::findNeeded() {
  m_needed.assign(m_kernel.exprs.size(), false);
  for (const LoopStore& store : m_kernel.stores) m_needed[std::size_t(store.value)] = true;
  for (std::size_t e = m_kernel.exprs.size(); e-- > 0;) {
    if (!m_needed[e]) continue;
    for (std::size_t a = 0; a < exprOpInfo(m_kernel.exprs[e].op).arity; ++a)
      m_needed[std::size_t(m_kernel.exprs[e].args[a])] = true;
  }
}

bool KernelWriter::reduces(std::size_t expr, int phase) const {
  return m_needed[expr] && isReduction(m_kernel.exprs[expr].op) && m_place.phase[expr] == phase + 1;
}

/// Elements that the reduced loop of one phase computes.
std::vector<bool> KernelWriter::usedInLoop(int phase) const {
  std::vector<bool> used(m_kernel.exprs.size(), false);
  for (std::size_t e = 0; e < used.size(); ++e)
    if (reduces(e, phase)) used[std::size_t(m_kernel.exprs[e].args[0])] = true;
  for (const LoopStore& s : m_kernel.stores)
    if (m_shape.inner.empty() || (s.inner && m_place.phase[std::size_t(s.value)] == phase))
      used[std::size_t(s.value)] = true;
  for (std::size_t e = used.size(); e-- > 0;) {
    if (!used[e] || (!m_shape.inner.empty() && m_place.level[e] < 2)) continue;
    if (m_keptFrom[e] >= 0 && m_keptFrom[e] < phase) continue;
    for (std::size_t a = 0; a < exprOpInfo(m_kernel.exprs[e].op).arity; ++a)
      used[std::size_t(m_kernel.exprs[e].args[a])] = true;
  }
  return used;
}

bool KernelWriter::loopHasWork(int phase) const {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (reduces(e, phase)) return true;
  return std::ranges::any_of(
      m_kernel.stores, [&](const LoopStore& s) { return s.inner && m_place.phase[std::size_t(s.value)] == phase; });
}

bool KernelWriter::storesWhatItLoads() const {
  return std::ranges::any_of(m_kernel.exprs,
                             [&](const Expr& e) { return isLoad(e.op) && storesTo(m_kernel, e.buffer); });
}

void KernelWriter::line(const std::string& text) { m_out += std::string(std::size_t(m_depth) * 2, ' ') + text + "\n"; }
void KernelWriter::open(const std::string& text) {
  line(text + " {");
  ++m_depth;
}
void KernelWriter::close() {
  --m_depth;
  line("}");
}

/// A comment where the lines of another node begin.
void KernelWriter::origin(std::size_t expr) {
  if (expr >= m_origins.size() || m_origins[expr] == m_origin) return;
  m_origin = m_origins[expr];
  if (!m_origin.empty()) line("// " + m_origin);
}

std::string KernelWriter::parameterList() const {
  std::string list;
  for (std::size_t b = 0; b < m_kernel.buffers.size(); ++b)
    list += fmt::format("{}\n    {}{}* __restrict__ b{} /* {} */", b == 0 ? "" : ",",
                        storesTo(m_kernel, int(b)) ? "" : "const ", memoryType(m_kernel.buffers[b].dtype), b,
                        m_kernel.buffers[b].name);
  for (std::size_t p = 0; p < m_kernel.parameters.size(); ++p) list += fmt::format(", long long n{}", p);
  if (m_shape.splits > 1) list += ", unsigned int* counters, unsigned char* parts";
  return list;
}

std::string KernelWriter::argumentList() const {
  std::string list;
  for (std::size_t b = 0; b < m_kernel.buffers.size(); ++b) list += fmt::format("{}b{}", b == 0 ? "" : ", ", b);
  for (std::size_t p = 0; p < m_kernel.parameters.size(); ++p) list += fmt::format(", n{}", p);
  if (m_shape.splits > 1) list += ", counters, parts";
  return list;
}

bool KernelWriter::isPacked(const Affine& index) const {
  if (m_atEdge) return false;
  if (isShifted()) return isShiftedAlike(index, *m_shape.shift, *m_shape.vectorVariable, m_shape.vector);
  return m_shape.vectorVariable && isContiguous(index, *m_shape.vectorVariable, m_shape.vector);
}

/// Whether a load reads a pack.
bool KernelWriter::readsPack(std::size_t expr) const {
  const Expr& e = m_kernel.exprs[expr];
  if (e.op == ExprOp::Load) return isPacked(e.index);
  return m_shape.vectorVariable && readsPackAt(m_kernel, expr, *m_shape.vectorVariable, m_shape.vector);
}

/// Whether the reduced loops go by packs.
bool KernelWriter::packsInside() const {
  return !m_atEdge && m_shape.vectorVariable &&
         (m_shape.inner.empty() || m_kernel.variables[*m_shape.vectorVariable].reduced);
}

/// Whether every buffer that is read or written in packs begins where a pack may lie.
std::string KernelWriter::alignment() const {
  std::vector<int> packs(m_kernel.buffers.size(), 1);
  const auto take = [&](int buffer, int elements) {
    int& most = packs[std::size_t(buffer)];
    most = std::max(most, elements);
  };
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const Expr& expr = m_kernel.exprs[e];
    if (m_tiled[e] && expr.op == ExprOp::Load) take(expr.buffer, m_shape.acrossVector);
    if (m_needed[e] && readsPack(e)) take(expr.buffer, m_shape.vector);
  }
  for (const LoopStore& s : m_kernel.stores)
    if (isPacked(s.index)) take(s.buffer, m_shape.vector);
  std::string text;
  for (std::size_t b = 0; b < packs.size(); ++b)
    if (packs[b] > 1)
      text += fmt::format("{}(unsigned long long)b{} % {} == 0", text.empty() ? "" : " && ", b,
                          std::min<std::int64_t>(16, itemSize(m_kernel.buffers[b].dtype) * packs[b]));
  return text;
}

/// Of a cluster's blocks some read while others write: registers for 1,024 threads of a processor, for 1,536 where they
/// keep little; 0: as many as the compiler wants. The body is written.
int KernelWriter::residentBlocks() const {
  constexpr std::int64_t few = 16;
  if (m_shape.cluster == 1 || m_shape.threads > 512) return 0;
  const auto inner = countOf(m_kernel, m_shape.inner);
  const bool keepsFew = m_shape.vector > 1 && inner && keptAtOnce((*inner + m_shape.team - 1) / m_shape.team) <= few;
  return (keepsFew ? 1536 : 1024) / m_shape.threads;
}

std::string KernelWriter::write(const std::vector<std::string>& nodes, bool guarded) {
  const bool vectors = m_shape.vector > 1;
  if (m_shape.layout == KernelLayout::Tiles) planTiled();
  line(fmt::format("// {}: {}", m_name, fmt::join(nodes, ", ")));
  line(fmt::format("using Index = {};", m_shape.wideIndex ? "long long" : "int"));
  if (vectors) {
    line("template <int V>");
    const std::string_view tiles = m_tileBytes > 0 ? ", unsigned char* tiled" : "";
    open(fmt::format("__device__ __forceinline__ void {}_with({}{})", m_name, parameterList(), tiles));
    writeBody();
    close();
  }
  const std::string cluster = m_shape.cluster > 1 ? fmt::format("__cluster_dims__({}, 1, 1) ", m_shape.cluster) : "";
  const int blocks = residentBlocks();
  open(fmt::format("extern \"C\" __global__ void {}__launch_bounds__({}{}) {}({}{})", cluster, m_shape.threads,
                   blocks > 0 ? fmt::format(", {}", blocks) : "", m_name, parameterList(),
                   guarded ? ", const unsigned long long* found" : ""));
  if (guarded) line("if (*found != 0) return;  // an index lies outside");
  writeTileSpace();
  if (vectors) {
    const std::string arguments = argumentList() + (m_tileBytes > 0 ? ", tiled" : "");
    line(fmt::format("if ({})", alignment()));
    line(fmt::format("  {}_with<{}>({});", m_name, m_shape.vector, arguments));
    line("else");
    line(fmt::format("  {}_with<1>({});", m_name, arguments));
  } else {
    writeBody();
  }
  close();
  return std::move(m_out);
}

void KernelWriter::writeBody() {
  if (m_shape.layout == KernelLayout::Columns) return writeColumns();
  if (m_shape.layout == KernelLayout::Tiles) return writeTiles();
  if (m_shape.inner.empty()) return writeElements();
  writeRows();
}

std::string KernelWriter::number(SymInt size) const {
  if (!size.isSymbolic()) return fmt::format("{}", size.bits());
  const auto& parameters = m_kernel.parameters;
  const auto found = std::ranges::find_if(parameters, [&](SymInt known) { return known.isIdentical(size); });
  return fmt::format("n{}", found - parameters.begin());
}

std::string KernelWriter::affine(const Affine& index) const {
  std::string sum;
  const auto add = [&](const std::string& term) { sum += sum.empty() ? term : " + " + term; };
  for (std::size_t v = 0; v < index.coefficients.size(); ++v) {
    const SymInt factor = index.coefficients[v];
    if (isZero(factor)) continue;
    add(factor.isIdentical(1) ? m_index[v] : fmt::format("{} * (Index){}", m_index[v], number(factor)));
  }
  if (sum.empty() || !isZero(index.constant)) add("(Index)" + number(index.constant));
  return sum;
}

/// Iterations of these loops.
std::string KernelWriter::count(const std::vector<std::size_t>& variables) const {
  if (const auto known = countOf(m_kernel, variables)) return fmt::format("(Index){}", *known);
  std::string product = "(Index)1";
  for (const std::size_t v : variables) product += fmt::format(" * {}", number(m_kernel.variables[v].size));
  return fmt::format("({})", product);
}

/// Row-major position `rest` as loop variables; the one that is taken in packs as where its pack begins.
void KernelWriter::writeIndices(const std::vector<std::size_t>& variables, std::string rest) {
  for (std::size_t i = variables.size(); i-- > 0;) {
    const std::size_t v = variables[i];
    const bool inPacks = m_shape.vectorVariable == v;
    m_index[v] = fmt::format("{}{}", inPacks ? "x" : "i", v);
    const std::string size = fmt::format("(Index){}", number(m_kernel.variables[v].size)) + (inPacks ? " / V" : "");
    const std::string position = i == 0 ? rest : fmt::format("{} % ({})", rest, size);
    const std::string_view shift = inPacks && isShifted() ? "head + " : "";
    line(fmt::format("const Index {} = {}{};", m_index[v], shift,
                     inPacks ? fmt::format("({}) * V", position) : position));
    if (i > 0) rest = fmt::format("({} / ({}))", rest, size);
  }
}

std::string KernelWriter::fromMemory(const std::string& text, DType dtype) const {
  return dtype == DType::Bool ? fmt::format("({} != 0)", text) : text;
}
std::string KernelWriter::toMemory(const std::string& text, DType dtype) const {
  return dtype == DType::Bool ? fmt::format("(unsigned char)({})", text) : text;
}

std::string KernelWriter::loaded(std::size_t expr) {
  const Expr& e = m_kernel.exprs[expr];
  if (m_cached[expr] && m_inside) return fromMemory(keptPlace(expr), e.dtype);
  if (m_tiled[expr] && !m_staging) {
    const std::size_t x = *m_shape.columnVariable, y = *m_shape.acrossVariable;
    return fromMemory(fmt::format("t{}[{} - bx][{} - by]", expr, m_index[x], m_index[y]), e.dtype);
  }
  if (m_packed[expr] && m_inside)
    return fromMemory(packName('p', expr, m_shape.unroll > 1 && e.op == ExprOp::Load) + ".at[q]", e.dtype);
  if (e.op == ExprOp::LoadAt)
    return fromMemory(fmt::format("b{}[(long long)({}) + {}]", e.buffer, affine(e.index), value(e.args[0])), e.dtype);
  const std::string text = fromMemory(fmt::format("b{}[{}]", e.buffer, affine(e.index)), e.dtype);
  if (e.op == ExprOp::Load) return text;
  return fmt::format("{} ? {} : ({})0", value(e.args[0]), text, registerType(e.dtype));
}

std::string KernelWriter::compute(std::size_t expr) {
  const Expr& e = m_kernel.exprs[expr];
  if (isLoad(e.op)) return loaded(expr);
  if (e.op == ExprOp::Index) return fmt::format("(long long)({})", affine(e.index));
  std::vector<std::string> args;
  for (std::size_t a = 0; a < exprOpInfo(e.op).arity; ++a) args.push_back(value(e.args[a]));
  if (args.empty()) return {};
  const DType from = m_kernel.exprs[std::size_t(e.args[0])].dtype;
  if (e.op == ExprOp::Convert) return convertText(args[0], from, e.dtype);
  if (e.op == ExprOp::Philox) return fmt::format("kerf_philox({}, {}, {})", args[0], args[1], e.integer);
  if (const std::string& inverse = m_inverses[expr]; !inverse.empty())
    return m_quotients[expr] == Quotient::Corrected ? fmt::format("kerf_quotient({}, {})", args[0], inverse)
                                                    : fmt::format("{} * scale{} * {}", args[0], e.args[1], inverse);
  if (e.op == ExprOp::Select) return fmt::format("{} ? {} : {}", args[0], args[1], args[2]);
  if (e.op == ExprOp::Fma) {
    const std::string_view name = e.dtype == DType::Float32 ? "fmaf" : "fma";
    return fmt::format("{}({}, {}, {})", name, args[0], args[1], args[2]);
  }
  return args.size() == 1 ? unaryText(e.op, args[0], from) : binaryText(e.op, args[0], args[1], from);
}

std::string KernelWriter::value(int expr) {
  const auto e = std::size_t(expr);
  const Expr& node = m_kernel.exprs[e];
  if (node.op == ExprOp::Constant) return constantText(node);
  if (!m_outerValues[e].empty()) return m_outerValues[e];
  if (!m_values[e].empty()) return m_values[e];
  const bool kept = m_inside && m_keptFrom[e] >= 0;
  if (kept && m_phase > m_keptFrom[e]) return keptPlace(e);
  const std::string text = compute(e);
  if (text.empty() && m_missing.empty())
    m_missing = fmt::format("{} of {}", exprOpInfo(node.op).name, dtypeInfo(node.dtype).shortCode);
  origin(e);
  const std::string name = fmt::format("v{}", e);
  line(fmt::format("const {} {} = {};", registerType(node.dtype), name, text));
  if (kept) line(fmt::format("{} = {};", keptPlace(e), name));
  return (m_inside ? m_values : m_outerValues)[e] = name;
}

std::string KernelWriter::combineFunction(const Expr& e) const {
  const std::string_view type = registerType(e.dtype);
  return fmt::format("[]({0} a, {0} b) {{ return ({0})({1}); }}", type, combineText(e, "a", "b"));
}

}  // namespace kerf::inline codegen_cuda
