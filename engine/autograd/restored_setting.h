// RestoredSetting: another value of a variable for a scope.
#pragma once

namespace kerf::inline autograd {

template <class T>
class RestoredSetting {
 public:
  RestoredSetting(T& place, T value) : m_place(place), m_before(place) { place = value; }
  ~RestoredSetting() { m_place = m_before; }
  RestoredSetting(const RestoredSetting&) = delete;
  RestoredSetting& operator=(const RestoredSetting&) = delete;

 private:
  T& m_place;
  T m_before;
};

}  // namespace kerf::inline autograd
