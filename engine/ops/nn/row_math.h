// Steps of softmax, attention and normalisation over one contiguous row of floats or doubles, with vector instructions.
// Sums are formed in double.
#pragma once

#include <cstdint>

namespace kerf::inline ops::rowmath {

/// Largest element; NaN if there is one, -infinity for an empty row.
float largest(const float* x, std::int64_t count);
double largest(const double* x, std::int64_t count);

/// x[i] = e^(x[i] - shift), of floats within 1.5 units in the last place; gives their sum.
double expShifted(float* x, double shift, std::int64_t count);
double expShifted(double* x, double shift, std::int64_t count);

/// Sum of e^(x[i] - shift), x unchanged.
double sumOfExp(const double* x, double shift, std::int64_t count);

/// x[i] = x[i] * factor + addend
void scale(float* x, double factor, double addend, std::int64_t count);
void scale(double* x, double factor, double addend, std::int64_t count);
/// x[i] = x[i] / divisor
void divide(float* x, double divisor, std::int64_t count);
void divide(double* x, double divisor, std::int64_t count);

/// x[i] = x[i] + y[i]
void add(float* x, const float* y, std::int64_t count);
void add(double* x, const double* y, std::int64_t count);

/// Sum of x[i] * y[i].
double dot(const float* x, const float* y, std::int64_t count);
double dot(const double* x, const double* y, std::int64_t count);

/// d[i] = p[i] * (d[i] - sum)
void softmaxGradient(float* d, const float* p, double sum, std::int64_t count);
void softmaxGradient(double* d, const double* p, double sum, std::int64_t count);

}  // namespace kerf::inline ops::rowmath
