#include "engine/mathlib/row_blocks.h"

namespace kerf::inline mathlib {
namespace {

/// A block's result stays in the second cache until what follows has read it.
constexpr std::int64_t elementsPerBlock = 1 << 15;
/// Multiplications that make a block worth a thread.
constexpr std::int64_t workPerBlock = 1 << 18;
constexpr std::int64_t blocksPerThread = 2;

std::int64_t roundedUp(std::int64_t size, std::int64_t unit) { return (size + unit - 1) / unit * unit; }

/// Rows of a block, out of `rows` of `rowElements` and `rowWork` each, at multiples of `unit` rows; blocks of about the
/// same size.
std::int64_t rowsPerBlock(std::int64_t rows, std::int64_t rowElements, double rowWork, std::int64_t unit,
                          std::int64_t wantedBlocks) {
  const std::int64_t forCache = std::max<std::int64_t>(1, elementsPerBlock / std::max<std::int64_t>(1, rowElements));
  const auto forWork = std::int64_t(double(workPerBlock) / std::max(1.0, rowWork)) + 1;
  const std::int64_t forThreads = std::max(forWork, rows / std::max<std::int64_t>(1, wantedBlocks));
  const std::int64_t most = std::clamp<std::int64_t>(std::min(forCache, forThreads), 1, rows);
  const std::int64_t blocks = (rows + most - 1) / most;
  return std::min(roundedUp((rows + blocks - 1) / blocks, unit), roundedUp(rows, unit));
}

double workPerPixel(const RowGeometry& g) {
  return double(g.outChannels) * double(g.channels / g.groups) * double(g.kernelHeight * g.kernelWidth);
}

std::vector<RowBlock> pixelBlocks(const RowGeometry& g, std::int64_t multiple, std::int64_t wanted) {
  const std::int64_t pixels = g.batch * g.outHeight * g.outWidth;
  const std::int64_t unit = multiple / std::gcd(multiple, g.outChannels);
  const std::int64_t step = rowsPerBlock(pixels, g.outChannels, workPerPixel(g), unit, wanted);
  std::vector<RowBlock> blocks;
  for (std::int64_t begin = 0; begin < pixels; begin += step) {
    const std::int64_t count = std::min(step, pixels - begin);
    blocks.push_back({{count, 0, 0}, begin * g.channels, begin * g.outChannels, count});
  }
  return blocks;
}

}  // namespace

std::optional<std::vector<RowBlock>> rowBlocks(const RowGeometry& g, std::int64_t multiple, int threads) {
  const std::int64_t wanted = threads == 1 ? 1 : threads * blocksPerThread;
  if (isPixelwise(g)) return pixelBlocks(g, multiple, wanted);
  const std::int64_t rowElements = g.outWidth * g.outChannels, imageRow = g.width * g.channels;
  const std::int64_t unit = multiple / std::gcd(multiple, rowElements);
  if (g.outHeight % unit != 0) return std::nullopt;  // a block would reach into the next image
  const std::int64_t step = rowsPerBlock(g.outHeight, rowElements, workPerPixel(g) * double(g.outWidth), unit,
                                         (wanted + g.batch - 1) / g.batch);
  std::vector<RowBlock> blocks;
  for (std::int64_t sample = 0; sample < g.batch; ++sample)
    for (std::int64_t begin = 0; begin < g.outHeight; begin += step) {
      const std::int64_t count = std::min(step, g.outHeight - begin);
      const std::int64_t first = begin * g.strideHeight - g.paddingHeight;
      const std::int64_t end = first + (count - 1) * g.strideHeight + (g.kernelHeight - 1) * g.dilationHeight + 1;
      const std::int64_t from = std::max<std::int64_t>(first, 0), to = std::min(end, g.height);
      if (from >= to) return std::nullopt;
      blocks.push_back({{count, from - first, end - to},
                        (sample * g.height + from) * imageRow,
                        (sample * g.outHeight + begin) * rowElements,
                        to - from});
    }
  return blocks;
}

}  // namespace kerf::inline mathlib
