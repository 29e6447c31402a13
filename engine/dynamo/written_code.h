// Which function, as it was written, a resume function is the rest of.
#pragma once

#include <cstddef>

#include "engine/python/reference.h"

namespace kerf::inline dynamo {

/// The function that a code object is of. The code itself where it is no resume function.
struct WrittenCode {
  PyCodeObject* code = nullptr;
  int shift = 0;          ///< index in a resume function of the first instruction as it was written
  bool isAgreed = false;  ///< it goes on behind a break that all ranks took: each of them has one to compile
};
WrittenCode writtenCode(PyCodeObject* code);

/// Notes `resume`, once: the rest of `frame`, with all of its instructions behind those that make its stack again. It is kept by the caller.
void noteResume(const Ref& resume, PyCodeObject* frame, std::size_t frameInstructions, bool isAgreed);

}  // namespace kerf::inline dynamo
