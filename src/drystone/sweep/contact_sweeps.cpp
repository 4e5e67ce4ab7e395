#include "drystone/sweep/contact_sweeps.hpp"

#include "drystone/sweep/sweep_any.hpp"

namespace drystone {

void ContactSweeps::fill_bodies(const Delassus& W) {
    const ConeProblem& p = *p_;
    const int m = m_;
    const auto count = static_cast<std::size_t>(p.bodies()) + 1;
    z.setZero(static_cast<Eigen::Index>(count + 1) * body_line);
    constexpr std::uintptr_t cache_line = 64;
    first_line_ = static_cast<int>((cache_line - reinterpret_cast<std::uintptr_t>(z.data()) % cache_line) %
                                   cache_line / sizeof(double));
    solid_.assign(count, 1);
    moves_.assign(count, 0);
    bool alike = true;
    for (const Species& s : p.species) {
        const auto* rigid = std::get_if<RigidInverseMass>(&s.mass);
        alike = alike && (s.is_points() || (rigid != nullptr && rigid->moments() == 1));
    }
    inertia_.assign(alike ? 0 : count * inertia_line, 0.0);
    Index first = 0;
    for (const Species& s : p.species) {
        parallel_for(W.threads(), s.count, [&](Index k) {
            const Index at = first + k + 1;
            double* to = line(at);
            const double n = copies_of(W, first + k);
            if (const auto* points = std::get_if<PointInverseMass>(&s.mass)) {
                to[3] = n * points->mass[k];
                moves_[at] = to[3] != 0 ? 1 : 0;
                return;
            }
            const auto* rigid = std::get_if<RigidInverseMass>(&s.mass);
            if (alike) {
                to[3] = n * rigid->mass[k];
                to[7] = n * rigid->inertia[k];
                moves_[at] = to[3] != 0 || to[7] != 0 ? 1 : 0;
                return;
            }
            moves_[at] = p.moves(first + k) ? 1 : 0;
            std::array<double, 36> B;
            inverse_block(s, k, B.data());
            const int d = m - spins_of(m);
            to[3] = n * B[0];
            // Velocities of a rigid body are alike, and know nothing of its spin.
            for (int a = 0; a < m; ++a) {
                for (int b = 0; b < m; ++b) {
                    if (a >= d && b >= d) continue;
                    const double expected = a == b ? B[0] : 0.0;
                    if (!(std::abs(B[a * m + b] - expected) <= rounding_of_numbers * B[0])) solid_[at] = 0;
                }
            }
            if (m == 3) {
                to[7] = n * B[8];
                set_inertia(at, to[7] * Eigen::Matrix3d::Identity());
            } else {
                const Eigen::Map<const Eigen::Matrix<double, 6, 6, Eigen::RowMajor>> whole(B.data());
                Eigen::Matrix3d J = n * whole.bottomRightCorner<3, 3>();
                const double mean = J.trace() / 3;
                if ((J - mean * Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff() <=
                    rounding_of_numbers * mean) {
                    to[7] = n * B[21];
                    J = to[7] * Eigen::Matrix3d::Identity();
                }
                set_inertia(at, J);
            }
        });
        first += s.count;
    }
}

Eigen::Matrix3d ContactSweeps::inertia(Index at) const {
    using Columns = Eigen::Map<const Eigen::Matrix3d, 0, Eigen::OuterStride<4>>;
    return Columns(inertia_.data() + static_cast<std::ptrdiff_t>(at) * inertia_line);
}

void ContactSweeps::set_inertia(Index at, const Eigen::Matrix3d& J) {
    double* to = inertia_.data() + static_cast<std::ptrdiff_t>(at) * inertia_line;
    for (int k = 0; k < 3; ++k) Eigen::Map<Eigen::Vector4d>(to + 4 * k) << J.col(k), 0.0;
}

void ContactSweeps::load_lines(const Vector& from) {
    ScratchVector change(W_->rooms(), p_->dofs());
    W_->push(from, change);
    const int m = m_;
    parallel_for(W_->threads(), p_->bodies(), [&](Index j) {
        double* to = line(j + 1);
        const auto place = p_->place_of(j);
        for (int k = 0; k < place.dim; ++k) to[place_in_line(m, k)] = change[place.first + k];
    });
}

template <class Contact, bool associated, bool compliant, bool pushed>
void ContactSweeps::visit_run(std::vector<Contact, HugePageAllocator<Contact>>& contacts, const Run& run,
                              double* before, double beta, Sleep& sleep, SweepSums& sums) {
    const SweepState state{lines(), inertia_.empty() ? nullptr : inertia_.data(), beta};
    const Index begin = backward ? run.count - 1 : 0, step = backward ? -1 : 1;
    Contact* c = contacts.data() + run.first + begin;
    double* x = r.data() + run.row + begin * Contact::numbers;
    double* from = before == nullptr ? nullptr : before + run.row + begin * Contact::numbers;
    const Give* give = compliant ? give_.data() + run.place + begin : nullptr;
    Visited here;
    Index visits = 0;
    for (Index n = 0, k = begin; n < run.count; ++n, k += step, c += step, x += step * Contact::numbers) {
        if (!backward) {
            // The array of contacts goes on for that many past the last.
            const char* next = reinterpret_cast<const char*>(c + contact_ahead<Contact>);
            for (std::size_t at = 0; at < sizeof(Contact); at += 64) __builtin_prefetch(next + at);
            for (const std::ptrdiff_t body : {c[bodies_ahead].a, c[bodies_ahead].b}) {
                __builtin_prefetch(state.lines + body * body_line, 1);
                if (std::is_same_v<Contact, RigidContact> && state.inertia != nullptr)
                    __builtin_prefetch(state.inertia + body * inertia_line);
            }
        }
        const bool sleeps = sleep.sweeps > 0 && sleep.left[run.place + k] > 0;
        if (sleeps) {
            --sleep.left[run.place + k];
        } else if (c->a != 0 || c->b != 0) {  // between bodies that cannot move there is nothing to solve
            const Visited visited = c->template visit<associated, compliant, pushed>(state, give, x, from);
            here.step += visited.step;
            here.uphill += visited.uphill;
            ++visits;
            if (sleep.sweeps > 0 && visited.step < sleep.threshold)
                sleep.left[run.place + k] = static_cast<std::uint8_t>(sleep.sweeps);
        }
        if (from != nullptr) from += step * Contact::numbers;
        if (give != nullptr) give += step;
    }
    sums.step += here.step;
    sums.uphill += here.uphill;
    sums.visits += visits;
}

template <bool pushed>
void ContactSweeps::visit_tensors(const Run& run, double* before, double beta, Sleep& sleep,
                                  SweepSums& sums) {
    const SweepState state{lines(), nullptr, beta};
    const Law law = associated_ ? Law::associated : Law::coulomb;
    with_tensors(*this, [&]<class Blocks>(Blocks& blocks) {
        constexpr int numbers = Blocks::value_type::numbers;
        for (Index n = 0; n < run.count; ++n) {
            const Index k = backward ? run.count - 1 - n : n;
            double* x = r.data() + run.row + k * numbers;
            double* from = before == nullptr ? nullptr : before + run.row + k * numbers;
            auto& block = blocks[run.first + k];
            std::uint8_t* left = sleep.sweeps > 0 ? &sleep.left[run.place + k] : nullptr;
            if (left != nullptr && *left > 0) {
                --*left;
            } else {
                const Visited visited = block.template visit<pushed>(p_->tensors, state, law,
                                                                     p_->cones[block.block], local_, x, from);
                sums.step += visited.step;
                sums.uphill += visited.uphill;
                ++sums.visits;
                if (left != nullptr && visited.step < sleep.threshold)
                    *left = static_cast<std::uint8_t>(sleep.sweeps);
            }
        }
    });
}

SweepSums ContactSweeps::visit_tile(Index tile, double* before, const double* push, Sleep& sleep) {
    SweepSums sums;
    const auto with = [&]<bool associated, bool compliant, bool pushed>() {
        const Index first = run_start_[tile], last = run_start_[tile + 1];
        for (Index n = first; n < last; ++n) {
            const Run& run = runs_[backward ? first + last - 1 - n : n];
            const double beta = pushed ? *push : 0.0;
            switch (run.kind) {
                case Kind::ball:
                    visit_run<BallContact, associated, compliant, pushed>(balls_, run, before, beta, sleep,
                                                                          sums);
                    break;
                case Kind::rigid:
                    visit_run<RigidContact, associated, compliant, pushed>(rigid_, run, before, beta, sleep,
                                                                           sums);
                    break;
                case Kind::wrench:
                    visit_run<WrenchContact, associated, compliant, pushed>(wrenches_, run, before, beta,
                                                                            sleep, sums);
                    break;
                case Kind::tensor:
                    visit_tensors<pushed>(run, before, beta, sleep, sums);
                    break;
                case Kind::other:
                    visit_others(run, before, push, sleep, sums);
                    break;
            }
        }
    };
    const auto with_push = [&]<bool associated, bool compliant>() {
        if (push != nullptr) {
            with.template operator()<associated, compliant, true>();
        } else {
            with.template operator()<associated, compliant, false>();
        }
    };
    if (associated_ && compliant_) {
        with_push.template operator()<true, true>();
    } else if (associated_) {
        with_push.template operator()<true, false>();
    } else if (compliant_) {
        with_push.template operator()<false, true>();
    } else {
        with_push.template operator()<false, false>();
    }
    return sums;
}

}  // namespace drystone
