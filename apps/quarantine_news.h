// What the log says of sources that go into quarantine, and come out of it: each once.
#pragma once

#include "api/source_view.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {

/// Not thread-safe.
class QuarantineNews {
  public:
    struct Line {
        std::string sentence;
        bool wrong = false;
    };

    /// What is new since the last look.
    std::vector<Line> look(const std::vector<api::SourceView>& sources) {
        std::vector<Line> news;
        for (const api::SourceView& source : sources) {
            api::Quarantine& known = known_[source.name];
            if (source.quarantine.kind == known) continue;
            const bool misread = known == api::Quarantine::kMisread;
            known = source.quarantine.kind;
            std::string why = api::sentence_of(source.name, source.quarantine);
            const bool wrong = !why.empty();
            if (!wrong) {
                why = "source " + source.name +
                      (misread ? " is read by this engine's configuration" : " is believed again");
            }
            news.push_back({std::move(why), wrong});
        }
        return news;
    }

  private:
    std::map<std::string, api::Quarantine> known_;
};

}  // namespace trueup::apps
