// Who visits which contact of a step, and what ranks send each other while they solve it.
//
// A contact is visited by the rank that has the cell of its tile. Ranks that own one of its bodies hold it too: an
// owner has every contact of its bodies, and so can add up their impulses in the order of keys. All who hold a contact
// find it by themselves, by the same arithmetic on the same bits; so lists of what is sent agree without a word. One
// thing has to be said: which ranks visit a body, since they need not own it nor know of each other. Its owner knows
// all its contacts, and tells them.
#pragma once

#include "drystone/cone/exchange.hpp"
#include "drystone/contact/tiling.hpp"
#include "drystone/distributed/communicator.hpp"

namespace drystone {

template <int d>
struct Part;

/// Contacts, their places in the tiling, and the ranks that visit them, of those contacts that this rank holds.
template <int d>
struct Held {
    ScratchArray<TilePlace<d>> places;
    std::vector<int> visitor;            ///< by contact
    std::vector<std::uint8_t> ours;      ///< by contact: 1 if we visit it
    std::vector<std::uint8_t> home;      ///< by contact: 1 if we keep its warm start
    std::vector<std::uint32_t> colours;  ///< of all ranks, ascending
    std::int64_t contacts = 0;           ///< of all ranks
    std::vector<std::int64_t> count;     ///< room for choose_held
};

/// Finds them among all contacts of local bodies, and drops the others. Collective.
template <int d>
void choose_held(const Scene<d>& scene, std::span<const double> reach, const TileGrid<d>& grid, int threads,
                 const Part<d>& part, ContactSet<d>& contacts, Held<d>& held);

/// The exchanges of a step. It is filled anew in each, in the memory of the last.
template <int d>
class Halo {
public:
    explicit Halo(const Communicator& team);
    Halo(const Halo&) = delete;
    Halo& operator=(const Halo&) = delete;

    /// All that is given must outlive the use of the Exchange. `tiling`: tiles that touch bodies of others are moved to
    /// the front of their colour. Collective.
    void fill(const Scene<d>& scene, const ContactSet<d>& contacts, const ConeProblem& problem,
              const Held<d>& held, Part<d>& part, Tiling& tiling);

    [[nodiscard]] const Exchange& exchange() const { return exchange_; }
    /// Rows of contacts, from the rank that keeps their warm start to all that hold them.
    void share_from_home(Vector& rows);
    [[nodiscard]] std::int64_t shared_bodies() const {
        return static_cast<std::int64_t>(shared_bodies_.size());
    }
    /// By colour.
    [[nodiscard]] std::span<const Channel> sweep_channels() const { return std::span(sweeps_).first(used_); }

private:
    /// One visit of a body: tiles of this colour that touch it are visited by this rank. (There is one such tile at
    /// most.)
    struct BodyVisit {
        Index body;
        std::int32_t colour;  // number in Held::colours
        std::int32_t rank;
        auto operator<=>(const BodyVisit&) const = default;
    };
    struct SharedBody {
        Index body;
        Index first;           // of its copies
        Index before, behind;  // so many of them come from ranks before this one, and behind
    };
    using Visits = std::span<const BodyVisit>;

    /// visits_ becomes all visits, by any rank, of the bodies that this rank and others visit.
    void find_visits();
    /// The ranks of some visits, each once, without this one if so wished; in ranks_.
    void name_ranks(Visits visits, int without);
    /// Calls f with the visits of each body.
    template <class F>
    void for_bodies(F&& f) const;
    /// Bodies that several ranks visit.
    void connect_sweeps();
    /// Tiles that touch such bodies go first. Tiles of a colour share no body, so their order is free.
    void sort_tiles(Tiling& tiling);
    void connect_rows(bool from_home, int tag, Channel& rows) const;
    /// Data of bodies that several ranks visit, here and as they came from the others, become their mean.
    void average(double* data, int stride);
    /// One number for each body: the largest over visitors.
    void raise(double* data);
    /// Numbers of the bodies that others visit too, as they come from these.
    [[nodiscard]] Index copies() const;

    // What it was filled with.
    const Scene<d>* scene_ = nullptr;
    const ContactSet<d>* contacts_ = nullptr;
    const ConeProblem* problem_ = nullptr;
    const Held<d>* held_ = nullptr;
    Part<d>* part_ = nullptr;

    std::vector<Channel> sweeps_;  // by colour; where mass is split one, which receives into copies_
    std::size_t used_ = 0;         // so many of them
    std::vector<SharedBody> shared_bodies_;  // that several ranks visit
    std::vector<double> copies_;             // as they came from other ranks
    Channel rows_, home_rows_;
    Channel looks_;  // between visitors of a body, into copies_
    Exchange exchange_;

    // Room for filling it.
    Mail mail_;
    std::vector<BodyVisit> visits_;
    std::vector<std::uint32_t> colour_of_;  // by contact
    std::vector<int> ranks_;
    std::vector<std::uint8_t> foreign_, shared_, border_;  // by body, by body, by tile
    Tiling sorted_;
};

}  // namespace drystone
