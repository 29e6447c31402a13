#include "app/bench/product_shapes.h"

namespace kerf::bench {

std::span<const ProductShape> productShapes() {
  // m, n, k, whether the left and the right one lie transposed, uses
  static constexpr ProductShape shapes[] = {
      {256, 3072, 768, false, false, 24}, {256, 768, 3072, false, false, 24}, {256, 3072, 768, false, true, 24},
      {3072, 768, 256, true, false, 24},  {256, 768, 3072, false, true, 24},  {768, 3072, 256, true, false, 24},
      {394, 3072, 768, false, true, 12},  {394, 768, 3072, false, true, 12},  {394, 3072, 768, false, false, 12},
      {768, 3072, 394, true, false, 12},  {394, 768, 3072, false, false, 12}, {3072, 768, 394, true, false, 12},
      {256, 50257, 768, false, true, 1},  {50257, 768, 256, true, false, 1},  {256, 768, 50257, false, false, 1},
      {256, 768, 768, false, false, 61},  {256, 768, 768, false, true, 61},   {768, 768, 256, true, false, 61},
      {2304, 768, 396, false, false, 12}, {396, 768, 2304, false, false, 12}, {394, 2304, 768, false, true, 12},
      {256, 30522, 768, false, true, 1},  {256, 768, 30522, false, false, 1}, {30522, 768, 256, true, false, 1},
      {256, 2304, 768, false, false, 12}, {256, 768, 2304, false, true, 12},  {768, 2304, 256, true, false, 12},
      {32, 4096, 1024, false, true, 27},  {32, 1024, 4096, false, true, 27},  {32, 4096, 1024, false, false, 27},
      {1024, 4096, 32, true, false, 27},  {32, 1024, 4096, false, false, 27}, {4096, 1024, 32, true, false, 27},
      {256, 1376, 512, false, true, 16},  {1376, 512, 256, true, false, 16},  {256, 512, 1376, false, false, 16},
      {768, 768, 396, false, false, 12},  {394, 768, 768, false, true, 12},   {394, 768, 768, false, false, 12},
      {256, 512, 512, false, true, 32},   {512, 512, 256, true, false, 32},   {256, 512, 512, false, false, 32},
      {256, 512, 1376, false, true, 8},   {512, 1376, 256, true, false, 8},   {256, 1376, 512, false, false, 8},
      {256, 8000, 512, false, true, 1},   {8000, 512, 256, true, false, 1},   {256, 512, 8000, false, false, 1},
      {512, 1024, 256, false, true, 3},   {512, 256, 1024, false, true, 3},   {128, 2048, 512, false, true, 3},
      {128, 512, 2048, false, true, 3},   {8, 8192, 2048, false, true, 3},    {8, 2048, 8192, false, true, 3},
      {8, 8192, 2048, false, false, 3},   {2048, 8192, 8, true, false, 3},    {8, 2048, 8192, false, false, 3},
      {8192, 2048, 8, true, false, 3},    {128, 2048, 512, false, false, 3},  {512, 2048, 128, true, false, 3},
      {128, 512, 2048, false, false, 3},  {2048, 512, 128, true, false, 3},   {512, 1024, 256, false, false, 3},
      {256, 1024, 512, true, false, 3},   {512, 256, 1024, false, false, 3},  {1024, 256, 512, true, false, 3},
      {2, 1000, 2048, false, true, 1},    {2, 2048, 1000, false, false, 1},   {1000, 2048, 2, true, false, 1},
      {4, 1000, 768, false, true, 1},     {2, 768, 1000, false, false, 1},    {1000, 768, 2, true, false, 1},
      {32, 128, 1, false, false, 1},
  };
  return shapes;
}

}  // namespace kerf::bench
