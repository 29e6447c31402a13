// Large documents are freed off the UI thread: a graph of 50,000 nodes has a million strings.
#pragma once

#include <memory>

#include <QThreadPool>

namespace kerf::ui::inline session {

/// The same document, whose last owner hands it to a thread of the pool.
template <class T>
std::shared_ptr<const T> freedElsewhere(std::shared_ptr<const T> owner) {
  const T* const document = owner.get();
  return {document, [owner = std::move(owner)](const T*) mutable {
            QThreadPool::globalInstance()->start([last = std::move(owner)] {});
          }};
}

}  // namespace kerf::ui::inline session
