// im2col and col2im: sliding windows of an image as columns, and columns summed back into an image.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/planes.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline ops {
namespace {

/// Geometry of windows over a (height, width) image; arguments are kernel_size, dilation, padding, stride.
struct WindowGrid {
  SymInt batch = 1, channels = 0;
  std::array<SymInt, 2> image{}, count{};
  std::array<std::int64_t, 2> kernel{}, dilation{}, padding{}, stride{};

  SymInt rows() const { return channels * (kernel[0] * kernel[1]); }
  SymInt columns() const { return count[0] * count[1]; }

  /// visit(flat column-tensor position, flat image position or -1 in the padding), column rows outermost.
  template <class Visit>
  void forCells(Visit&& visit) const {
    const std::int64_t images = batch, depth = channels, rowCount = rows(), columnCount = columns(), across = count[1];
    const std::int64_t height = image[0], width = image[1];
    for (std::int64_t n = 0; n < images; ++n)
      for (std::int64_t row = 0; row < rowCount; ++row) {
        const std::int64_t channel = row / (kernel[0] * kernel[1]);
        const std::int64_t ky = row / kernel[1] % kernel[0], kx = row % kernel[1];
        for (std::int64_t column = 0; column < columnCount; ++column) {
          const std::int64_t y = column / across * stride[0] - padding[0] + ky * dilation[0];
          const std::int64_t x = column % across * stride[1] - padding[1] + kx * dilation[1];
          const bool inside = y >= 0 && y < height && x >= 0 && x < width;
          visit((n * rowCount + row) * columnCount + column,
                inside ? ((n * depth + channel) * height + y) * width + x : std::int64_t{-1});
        }
      }
  }
};

/// Reads the four lists from argument `first` on. ShapeMismatch when no window fits.
Result<WindowGrid> windowGrid(const BoundArguments& args, std::size_t first, const SymSizes& image) {
  WindowGrid grid;
  std::array<std::int64_t, 2>* const lists[] = {&grid.kernel, &grid.dilation, &grid.padding, &grid.stride};
  constexpr std::int64_t limit = 1LL << 31;
  for (std::size_t i = 0; i < 4; ++i) {
    const Sizes values = args.sizes(first + i);
    const std::string& name = args.op->schema.arguments[first + i].name;
    if (values.size() != 2) return mismatch(args, "argument '{}' needs 2 entries, got {}", name, values.size());
    for (std::size_t d = 0; d < 2; ++d) {
      if (values[d] < (i == 2 ? 0 : 1) || values[d] > limit)
        return mismatch(args, "argument '{}' must be {}, got {}", name, i == 2 ? "at least 0" : "positive", values[d]);
      (*lists[i])[d] = values[d];
    }
  }
  for (std::size_t d = 0; d < 2; ++d) {
    if (!guardOrTrue(image[d] >= 0) || !guardOrTrue(image[d] <= limit))
      return mismatch(args, "image size {} is out of range", image[d]);
    grid.image[d] = image[d];
    const SymInt span = image[d] + 2 * grid.padding[d] - (grid.dilation[d] * (grid.kernel[d] - 1) + 1);
    if (!guardOrTrue(span >= 0))
      return mismatch(args, "no window of kernel {} fits image size {}", grid.kernel[d], image[d]);
    grid.count[d] = floorDiv(span, grid.stride[d]) + 1;
  }
  return grid;
}

/// Numbers must have a product; of expressions nothing is said.
Result<void> checkCount(const SymSizes& sizes) {
  if (!sizes.isSymbolic()) KERF_CHECK(checkedNumel(sizes.numbers()));
  return {};
}

/// im2col(self, kernel_size, dilation, padding, stride)
Result<WindowGrid> columnsGrid(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() != 3 && self.dim() != 4) return mismatch(args, "expects 3 or 4 dimensions, got {}", self.dim());
  for (std::int64_t d = self.dim() - 3; d < self.dim(); ++d)
    if (guardOrFalse(self.symSize(d) == 0)) return mismatch(args, "dimension {} has no elements", d);
  KERF_TRY(WindowGrid grid, windowGrid(args, 1, SymSizes(self.symSizes().end() - 2, self.symSizes().end())));
  grid.channels = self.symSize(self.dim() - 3);
  grid.batch = self.dim() == 4 ? self.symSize(0) : SymInt(1);
  KERF_CHECK(checkCount({grid.channels, grid.kernel[0], grid.kernel[1]}));
  KERF_CHECK(checkCount({grid.batch, grid.rows(), grid.count[0], grid.count[1]}));
  return grid;
}

Result<Value> columnsShape(const BoundArguments& args) {
  KERF_TRY(const WindowGrid grid, columnsGrid(args));
  SymSizes sizes{grid.batch, grid.rows(), grid.columns()};
  if (args.tensor(0).dim() == 3) sizes.erase(sizes.begin());
  return Value(metaTensor(args.tensor(0).dtype(), sizes));
}

Result<Value> columnsKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const WindowGrid grid, columnsGrid(args));
  KERF_TRY(const Tensor image, args.tensor(0).contiguous());
  if (out.numel() > 0)
    KERF_CHECK(dispatchBits(itemSize(out.dtype()), [&]<class T>() {
      grid.forCells([&](std::int64_t to, std::int64_t from) {
        if (from >= 0) out.data<T>()[to] = image.data<T>()[from];
      });
    }));
  return Value(std::move(out));
}

/// col2im(self, output_size, kernel_size, dilation, padding, stride)
Result<WindowGrid> imageGrid(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() != 2 && self.dim() != 3) return mismatch(args, "expects 2 or 3 dimensions, got {}", self.dim());
  if (args.sizes(1).size() != 2) return mismatch(args, "argument 'output_size' needs 2 entries");
  for (const SymInt size : args.symSizes(1))
    if (!guardOrTrue(size > 0)) return mismatch(args, "output size {} must be positive", size);
  KERF_TRY(WindowGrid grid, windowGrid(args, 2, args.symSizes(1)));
  const SymInt rows = self.symSize(self.dim() - 2), columns = self.symSize(self.dim() - 1);
  KERF_TRY(const std::int64_t kernel, checkedNumel({grid.kernel[0], grid.kernel[1]}));
  if (!guardOrTrue(rows != 0) || !guardOrTrue(floorMod(rows, kernel) == 0))
    return mismatch(args, "{} rows are not a multiple of the kernel's {} elements", rows, kernel);
  const SymInt expected = grid.columns();
  if (!guardOrTrue(expected == columns)) return mismatch(args, "expects {} columns, got {}", expected, columns);
  grid.channels = floorDiv(rows, kernel);
  grid.batch = self.dim() == 3 ? self.symSize(0) : SymInt(1);
  return grid;
}

Result<Value> imageShape(const BoundArguments& args) {
  KERF_TRY(const WindowGrid grid, imageGrid(args));
  SymSizes sizes{grid.batch, grid.channels, grid.image[0], grid.image[1]};
  if (args.tensor(0).dim() == 2) sizes.erase(sizes.begin());
  return Value(metaTensor(args.tensor(0).dtype(), sizes));
}

/// Sums round to the tensor's dtype after every addition, as there.
Result<Value> imageKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const WindowGrid grid, imageGrid(args));
  KERF_TRY(const Tensor columns, args.tensor(0).contiguous());
  if (out.numel() == 0) return Value(std::move(out));
  KERF_CHECK(dispatchAllAndComplex(out.dtype(), [&]<class T>() {
    grid.forCells([&](std::int64_t from, std::int64_t to) {
      if (to < 0) return;
      T& sum = out.data<T>()[to];
      const T x = columns.data<T>()[from];
      if constexpr (std::is_same_v<T, bool>)
        sum = sum || x;
      else if constexpr (std::is_integral_v<T>)
        sum = static_cast<T>(std::uint64_t(sum) + std::uint64_t(x));
      else
        sum = T(sum + x);
    });
  }));
  return Value(std::move(out));
}

constexpr OpRow unfoldRows[] = {
    {"aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
     OpTrait::None, columnsShape, columnsKernel},
    {"aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] "
     "stride) -> Tensor",
     OpTrait::None, imageShape, imageKernel},
};

const OpRegistration unfoldOps({.rows = unfoldRows});

}  // namespace

}  // namespace kerf::inline ops
