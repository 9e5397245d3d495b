// The word that a source is known to have gone back in time (a restored etcd, a database that
// failed over or was restored), on its way to the engine. Each epoch that begins says it, until one
// that said it is whole and published: an epoch that is cut, or that the log lost, does not use it
// up.
//
// For connectors: what a step wants published passes through `tell`. The log's answer to a marker
// that came behind the epoch's end is what tells that the epoch was published. Not thread-safe.
#pragma once

#include "engine/model/fact.h"

#include <cstddef>
#include <vector>

namespace trueup::ports {

class Rewind {
  public:
    /// The source went back.
    void happened();
    /// A new incarnation: what was handed out before may never have been published.
    void restart() { said_ = whole_ = marked_ = false; }
    /// Puts the word into the facts from `first` on.
    void tell(std::vector<Fact>& facts, std::size_t first);
    /// The marker that was handed out last is in the log.
    void marker_appended();

  private:
    bool due_ = false;
    bool said_ = false;    ///< by the epoch that began last
    bool whole_ = false;   ///< an epoch that said it has ended
    bool marked_ = false;  ///< and a marker was asked for behind its end
};

}  // namespace trueup::ports
