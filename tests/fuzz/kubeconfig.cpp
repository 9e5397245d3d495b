// A kubeconfig, as other tools and people write it: an access that can be used, or a reason why it
// cannot.
#include "connectors/kubernetes/kubeconfig.h"

#include "tests/fuzz/fuzz.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

/// One file that is written anew for each input, in a folder of its own.
class Place {
  public:
    Place() {
        std::string name = (std::filesystem::temp_directory_path() / "trueup-XXXXXX").string();
        TRUEUP_CHECK(::mkdtemp(name.data()) != nullptr);
        folder_ = name;
    }
    ~Place() { std::filesystem::remove_all(folder_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    std::string write(std::string_view text) const {
        const std::string path = folder_ + "/config";
        std::ofstream(path, std::ios::binary) << text;
        TRUEUP_CHECK(::chmod(path.c_str(), S_IRUSR | S_IWUSR) == 0);
        return path;
    }

  private:
    std::string folder_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    static const Place kPlace;
    const auto access = connectors::read_kubeconfig(kPlace.write(fuzz::text(data, size)));
    if (!access) {
        fuzz::check_refusal(access.error(), Next::kStop);
        return 0;
    }
    TRUEUP_CHECK(!access->server.empty() && access->verify);
    TRUEUP_CHECK(access->cert.empty() == access->key.empty());
    const bool has_more = !access->token.empty() || !access->cert.empty();
    TRUEUP_CHECK(!access->exec || !has_more);
    const auto again = access->again();
    TRUEUP_CHECK(again.ok() && again->server == access->server && again->token == access->token);
    return 0;
}
