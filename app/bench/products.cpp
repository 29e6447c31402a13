#include "app/bench/products.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>

#include "app/bench/product_shapes.h"
#include "engine/capture/common/capture.h"
#include "engine/capture/common/recorded_shapes.h"
#include "engine/ir/value_meta.h"
#include "engine/mathlib/gemm.h"
#include "engine/mathlib/library_gemm.h"
#include "engine/support/thread_pool.h"

namespace kerf::bench {
namespace {

constexpr int mostRuns = 200;
constexpr double longEnough = 20;  // milliseconds
constexpr std::int64_t beyondCaches = std::int64_t{256} << 20;
/// After which the threads of a library sleep.
constexpr auto pause = std::chrono::milliseconds(50);

double clockNow() {
  std::timespec time{};
  ::clock_gettime(threadCount() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
}

Result<Tensor> filled(std::int64_t rows, std::int64_t columns) {
  KERF_TRY(const Tensor t, Tensor::zeros(DType::Float32, {rows, columns}));
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = float(i * 7919 % 13 - 6) / 8;
  return t;
}

/// As the product sees it.
Tensor view(const Tensor& stored, bool transposed) {
  if (!transposed) return stored;
  return stored.viewAs({stored.size(1), stored.size(0)}, {1, stored.size(1)}, 0);
}

class ProductMeasurement {
 public:
  static Result<ProductMeasurement> make(const ProductShape& s, bool cold) {
    ProductMeasurement made;
    KERF_TRY(made.m_left, s.transposedA ? filled(s.k, s.m) : filled(s.m, s.k));
    KERF_TRY(made.m_right, s.transposedB ? filled(s.n, s.k) : filled(s.k, s.n));
    KERF_TRY(made.m_out, filled(s.m, s.n));
    made.m_shape = s;
    if (cold) {
      KERF_TRY(made.m_other, Storage::allocate(beyondCaches));
    }
    return made;
  }

  Result<double> kerf(int repeats) {
    const Tensor a = view(m_left, m_shape.transposedA), b = view(m_right, m_shape.transposedB);
    return fastest(repeats, [&] { return gemm(a, b, m_out); });
  }
  Result<double> library(GemmLibrary library, int repeats) {
    const ProductShape& s = m_shape;
    const PanelProduct<float> product{s.transposedA,  s.transposedB,   s.m, s.n, s.k, 1,
                                      m_left.size(1), m_right.size(1), 0,   s.n};
    auto time = fastest(repeats, [&] {
      return libraryGemm(library, product, m_left.data<float>(), m_right.data<float>(), m_out.data<float>());
    });
    if (threadCount() > 1) std::this_thread::sleep_for(pause);
    return time;
  }

 private:
  Result<double> fastest(int repeats, const std::function<Result<void>()>& product) {
    double best = 1e300, all = 0;
    for (int run = 0; run <= repeats || (run < mostRuns && all < longEnough); ++run) {
      emptyCaches();
      const double start = clockNow();
      KERF_CHECK(product());
      const double time = clockNow() - start;
      if (run > 0) best = std::min(best, time), all += time;
    }
    return best;
  }

  void emptyCaches() {
    if (!m_other) return;
    constexpr std::int64_t line = 64;
    std::byte* const bytes = m_other->data();
    parallelFor(beyondCaches / line, 1 << 12, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) bytes[i * line] = std::byte(i);
    });
  }

  ProductShape m_shape;
  Tensor m_left, m_right, m_out;
  StoragePtr m_other;
};

/// A node's tensor: its sizes, and whether columns lie side by side.
struct Operand {
  Sizes sizes;
  bool transposed = false;
};
std::optional<Operand> operandOf(const Graph& graph, const Node& node, std::size_t i) {
  if (i >= node.args().size()) return std::nullopt;
  const NodeId* const id = node.args()[i].as<NodeId>();
  const auto* meta = id ? std::get_if<TensorMeta>(&graph.node(*id).meta().value.value) : nullptr;
  if (!meta || meta->dtype != DType::Float32) return std::nullopt;
  const auto sizes = meta->concreteSizes(), strides = meta->concreteStrides();
  if (!sizes || !strides || sizes->size() != 2) return std::nullopt;
  return Operand{*sizes, (*strides)[0] == 1 && (*strides)[1] != 1};
}

void addProducts(const Graph& graph, std::vector<ProductShape>& shapes) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const bool adds = node.isCall("aten.addmm.default"_op);
    if (!adds && !node.isCall("aten.mm.default"_op)) continue;
    const auto a = operandOf(graph, node, adds ? 1 : 0), b = operandOf(graph, node, adds ? 2 : 1);
    if (!a || !b) continue;
    const ProductShape shape{a->sizes[0], b->sizes[1], a->sizes[1], a->transposed, b->transposed, 1};
    const auto same = std::ranges::find_if(shapes, [&](ProductShape known) {
      known.uses = 1;
      return known == shape;
    });
    if (same == shapes.end())
      shapes.push_back(shape);
    else
      ++same->uses;
  }
}

/// "PATH" (its first graph) or "PATH#NAME".
Result<void> addProducts(const std::string& address, std::vector<ProductShape>& shapes) {
  const auto hash = address.rfind('#');
  KERF_TRY(Capture capture, importCapture(address.substr(0, hash)));
  for (CapturedGraph& graph : capture.graphs) {
    if (hash != std::string::npos && graph.name != address.substr(hash + 1)) continue;
    KERF_CHECK(graph.ensureLoaded());
    KERF_CHECK(annotateRecorded(graph));
    addProducts(graph.module.graph, shapes);
    return {};
  }
  return fail(ErrorCode::NotFound, "{} holds no such graph", address);
}

}  // namespace

std::string nameOf(const ProductShape& s) {
  return fmt::format("[{}, {}] x [{}, {}] {}{}", s.m, s.k, s.k, s.n, s.transposedA ? 'T' : 'N',
                     s.transposedB ? 'T' : 'N');
}

std::vector<std::string> productLibraries() {
  return {describeLibrary(GemmLibrary::OpenBlas), describeLibrary(GemmLibrary::OneDnn)};
}

Result<std::vector<ProductTime>> benchProducts(const ProductBenchOptions& options, std::stop_token stop) {
  std::vector<ProductShape> shapes;
  if (options.graphs.empty()) shapes.assign(productShapes().begin(), productShapes().end());
  for (const std::string& graph : options.graphs) KERF_CHECK(addProducts(graph, shapes));
  std::erase_if(shapes, [&](const ProductShape& s) { return nameOf(s).find(options.filter) == std::string::npos; });
  if (shapes.empty()) return fail(ErrorCode::NotFound, "no product to measure");
  std::vector<ProductTime> rows;
  for (const ProductShape& shape : shapes) {
    if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "interrupted");
    KERF_TRY(auto measurement, ProductMeasurement::make(shape, options.cold));
    ProductTime row{shape};
    KERF_TRY(row.kerf, measurement.kerf(options.repeats));
    KERF_TRY(row.openBlas, measurement.library(GemmLibrary::OpenBlas, options.repeats));
    KERF_TRY(row.oneDnn, measurement.library(GemmLibrary::OneDnn, options.repeats));
    rows.push_back(row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const ProductTime& row) { return row.work() * row.shape.uses; });
  return rows;
}

}  // namespace kerf::bench
