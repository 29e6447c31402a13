#include "tests/differential/fuzzgraph/random_values.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "engine/tensor/dispatch.h"

namespace kerf::fuzzgraph {
namespace {

double corner(Dice& dice) { return dice.pick({0.0, -0.0, 1.0, -1.0, 1e-30, 65504.0, double(INFINITY), double(NAN)}); }

/// Everything the storage holds gets a value, so that what lies between strides has one too.
void fill(Dice& dice, const Tensor& flat, Interval range, bool corners) {
  const auto drawn = [&] { return corners && dice.chance(3) ? corner(dice) : dice.real(range.low, range.high); };
  const auto done = dispatchAllAndComplex(flat.dtype(), [&]<class T>() {
    T* data = flat.data<T>();
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
      if constexpr (std::is_same_v<T, bool>)
        data[i] = dice.chance(50);
      else if constexpr (std::is_integral_v<T>)
        data[i] = T(dice.between(
            std::is_unsigned_v<T> ? std::max<std::int64_t>(0, std::int64_t(range.low)) : std::int64_t(range.low),
            std::max<std::int64_t>(std::int64_t(range.high), 1)));
      else if constexpr (isComplexType<T>)
        data[i] = T(typename T::value_type(drawn()), typename T::value_type(dice.real(range.low, range.high)));
      else
        data[i] = T(float(drawn()));
    }
  });
  (void)done;  // other dtypes stay zero
}

std::vector<std::int64_t> orderOf(Dice& dice, Arrangement arrangement, std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (arrangement == Arrangement::ChannelsLast) {
    order.erase(order.begin() + 1);
    order.push_back(1);
  } else if (arrangement == Arrangement::Transposed) {
    std::swap(order[dice.below(rank)], order[rank - 1]);
  }
  return order;
}

struct Place {
  Sizes strides;
  std::int64_t offset = 0, elements = 0;
};

Place placeOf(Dice& dice, const Sizes& sizes, Arrangement arrangement) {
  Place place{Sizes(sizes.size()), 0, 1};
  if (arrangement == Arrangement::Stepped) place.elements = 2;
  const auto order = orderOf(dice, arrangement, sizes.size());
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    place.strides[std::size_t(*at)] = place.elements;
    place.elements *= std::max<std::int64_t>(sizes[std::size_t(*at)], 1);
  }
  if (arrangement == Arrangement::Expanded) place.strides[dice.below(sizes.size())] = 0;
  if (arrangement == Arrangement::Offset) place.offset = 3;
  place.elements += place.offset;
  return place;
}

}  // namespace

Arrangement randomArrangement(Dice& dice, std::size_t rank) {
  if (rank == 0 || dice.chance(65)) return dice.chance(95) ? Arrangement::RowMajor : Arrangement::Offset;
  if (rank >= 4 && dice.chance(50)) return Arrangement::ChannelsLast;
  return dice.pick({Arrangement::Transposed, Arrangement::Transposed, Arrangement::Expanded, Arrangement::Offset,
                    Arrangement::Stepped});
}

Tensor randomTensor(Dice& dice, DType dtype, const Sizes& sizes, Interval range, Arrangement arrangement,
                    bool corners) {
  const Place place = placeOf(dice, sizes, arrangement);
  const Tensor flat = *Tensor::zeros(dtype, {place.elements});
  fill(dice, flat, range, corners);
  return flat.viewAs(sizes, place.strides, place.offset);
}

Spread spreadOf(const Tensor& tensor) {
  Spread spread;
  const auto dense = tensor.contiguous();
  if (!dense) return spread;
  const auto add = [&](double value) {
    if (std::isfinite(value))
      spread.greatest = std::max(spread.greatest, std::abs(value));
    else
      spread.allFinite = false;
  };
  const auto done = dispatchAllAndComplex(tensor.dtype(), [&]<class T>() {
    const T* data = dense->data<T>();
    for (std::int64_t i = 0; i < dense->numel(); ++i) {
      if constexpr (isComplexType<T>)
        add(double(data[i].real())), add(double(data[i].imag()));
      else
        add(double(data[i]));
    }
  });
  (void)done;
  return spread;
}

}  // namespace kerf::fuzzgraph
