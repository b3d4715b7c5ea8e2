/* cell.cuh: the right-hand sides of the heart cell: 46 equations of excitation and contraction (Shannon
 * and Bers 2004) and three times 15 of calmodulin (Saucerman and Bers 2008), in dyad, subsarcolemma and
 * cytosol. A list of formulas like a data file: the device evaluates it with `real` = float, whose
 * constants make most of the arithmetic double as in the original, the host's check with `real` = double.
 * Whoever includes this defines `real` and CELL_FUNCTION. */
#ifndef MYOCYTE_CELL_CUH
#define MYOCYTE_CELL_CUH

#define EQUATIONS  91
#define PARAMETERS 18

enum { ECC = 0, DYAD = 46, SL = 61, CYTOSOL = 76 }; /* where a part's values begin */

#define SQUARE(x) ((x) * (x))
#define CUBE(x)   ((x) * (x) * (x))

CELL_FUNCTION real gate(real at, real steady, real time) { return (steady - at) / time; }

/* Values: 0..2 m h j, 3..6 d f fCaB, 7..10 and 39 outward gates, 11 xkr, 12 xks, 13..15 release channel,
 * 16..29 buffers, 30 calcium of the store, 31..33 sodium, 34 potassium, 35..37 calcium, 38 potential,
 * 42..45 integrals of currents. */
CELL_FUNCTION void cell_ecc(real time, const real *y, real *d, const real *params)
{
    real cycle = params[15];
    real m = y[0], h = y[1], j = y[2], dg = y[3], f = y[4], fcab_j = y[5], fcab_sl = y[6], xkr = y[11],
         xks = y[12];
    real na_j = y[31], na_sl = y[32], na_i = y[33], k_i = y[34], ca_j = y[35], ca_sl = y[36], ca_i = y[37],
         v = y[38];
    real ca_sr = y[30];

    real frt = 96485.0 / (8314.0 * 310.0), frdy = 96485.0, cmem = 1.3810e-10;
    real v_cell = 3.1416 * 10.25 * 10.25 * 100.0 * 1e-15;
    real v_myo = 0.65 * v_cell, v_sr = 0.035 * v_cell, v_sl = 0.02 * v_cell, v_junc = 0.0539 * 0.01 * v_cell;
    real j_ca_juncsl = 1 / 1.2134e12, j_ca_slmyo = 1 / 2.68510e11;
    real j_na_juncsl = 1 / (1.6382e12 / 3 * 100), j_na_slmyo = 1 / (1.8308e10 / 3 * 100);
    real fjunc = 0.11, fsl = 1 - 0.11, fjunc_cal = 0.9, fsl_cal = 1 - 0.9;
    real cli = 15, clo = 150, ko = 5.4, nao = 140, cao = 1.8, mgi = 1;

    real ena_junc = 1 / frt * log(nao / na_j), ena_sl = 1 / frt * log(nao / na_sl),
         ek = 1 / frt * log(ko / k_i);
    real eca_junc = 1 / frt / 2 * log(cao / ca_j), eca_sl = 1 / frt / 2 * log(cao / ca_sl),
         ecl = 1 / frt * log(cli / clo);

    /* fast sodium */
    real am = 0.32 * (v + 47.13) / (1 - exp(-0.1 * (v + 47.13))), bm = 0.08 * exp(-v / 11.0), ah, bh, aj, bj;
    if (v >= -40) {
        ah = 0, aj = 0;
        bh = 1 / (0.13 * (1 + exp(-(v + 10.66) / 11.1)));
        bj = 0.3 * exp(-2.535e-7 * v) / (1 + exp(-0.1 * (v + 32)));
    } else {
        ah = 0.135 * exp((80 + v) / -6.8);
        bh = 3.56 * exp(0.079 * v) + 3.1e5 * exp(0.35 * v);
        aj = (-127140 * exp(0.2444 * v) - 3.474e-5 * exp(-0.04391 * v)) * (v + 37.78) /
             (1 + exp(0.311 * (v + 79.23)));
        bj = 0.1212 * exp(-0.01052 * v) / (1 + exp(-0.1378 * (v + 40.14)));
    }
    d[0] = am * (1 - m) - bm * m;
    d[1] = ah * (1 - h) - bh * h;
    d[2] = aj * (1 - j) - bj * j;
    real i_na_junc = fjunc * 16.0 * CUBE(m) * h * j * (v - ena_junc),
         i_na_sl = fsl * 16.0 * CUBE(m) * h * j * (v - ena_sl);
    real i_nabk_junc = fjunc * 0.297e-3 * (v - ena_junc), i_nabk_sl = fsl * 0.297e-3 * (v - ena_sl);

    /* sodium-potassium pump */
    real sigma = (exp(nao / 67.3) - 1) / 7;
    real fnak = 1 / (1 + 0.1245 * exp(-0.1 * v * frt) + 0.0365 * sigma * exp(-v * frt));
    real i_nak_junc = fjunc * 1.90719 * fnak * ko / (1 + SQUARE(SQUARE(11 / na_j))) / (ko + 1.5);
    real i_nak_sl = fsl * 1.90719 * fnak * ko / (1 + SQUARE(SQUARE(11 / na_sl))) / (ko + 1.5),
         i_nak = i_nak_junc + i_nak_sl;

    /* potassium: rapid, slow, plateau */
    real xrss = 1 / (1 + exp(-(v + 50) / 7.5));
    real tauxr = 1 / (0.00138 * (v + 7) / (1 - exp(-0.123 * (v + 7))) +
                      6.1e-4 * (v + 10) / (exp(0.145 * (v + 10)) - 1));
    d[11] = gate(xkr, xrss, tauxr);
    real i_kr = 0.03 * sqrt(ko / 5.4) * xkr / (1 + exp((v + 33) / 22.4)) * (v - ek);
    real pcaks_junc = -log(ca_j) * 0.43429448190325176 + 3.0,
         pcaks_sl = -log(ca_sl) * 0.43429448190325176 + 3.0;
    real gks_junc = 0.07 * (0.057 + 0.19 / (1 + exp((-7.2 + pcaks_junc) / 0.6)));
    real gks_sl = 0.07 * (0.057 + 0.19 / (1 + exp((-7.2 + pcaks_sl) / 0.6)));
    real eks = 1 / frt * log((ko + 0.01833 * nao) / (k_i + 0.01833 * na_i)),
         xsss = 1 / (1 + exp(-(v - 1.5) / 16.7));
    real tauxs = 1 / (7.19e-5 * (v + 30) / (1 - exp(-0.148 * (v + 30))) +
                      1.31e-4 * (v + 30) / (exp(0.0687 * (v + 30)) - 1));
    d[12] = gate(xks, xsss, tauxs);
    real i_ks = (fjunc * gks_junc + fsl * gks_sl) * SQUARE(xks) * (v - eks);
    real i_kp = 0.001 / (1 + exp(7.488 - v / 5.98)) * (v - ek);

    /* transient outward, slow and fast */
    real xtoss = 1 / (1 + exp(-(v + 3.0) / 15)), ytoss = 1 / (1 + exp((v + 33.5) / 10));
    d[7] = gate(y[7], xtoss, 9 / (1 + exp((v + 3.0) / 15)) + 0.5);
    d[8] = gate(y[8], ytoss, 3e3 / (1 + exp((v + 60.0) / 10)) + 30);
    d[39] = gate(y[39], ytoss, 2800 / (1 + exp((v + 60.0) / 10)) + 220);
    d[9] = gate(y[9], xtoss, 3.5 * exp(-v * v / 30 / 30) + 1.5);
    d[10] = gate(y[10], ytoss, 20.0 / (1 + exp((v + 33.5) / 10)) + 20.0);
    real i_to = 0.06 * y[7] * (y[8] + 0.5 * y[39]) * (v - ek) + 0.02 * y[9] * y[10] * (v - ek);

    /* inward rectifier, chloride */
    real aki = 1.02 / (1 + exp(0.2385 * (v - ek - 59.215)));
    real bki = (0.49124 * exp(0.08032 * (v + 5.476 - ek)) + exp(0.06175 * (v - ek - 594.31))) /
               (1 + exp(-0.5143 * (v - ek + 4.753)));
    real i_ki = 0.9 * sqrt(ko / 5.4) * (aki / (aki + bki)) * (v - ek);
    real i_clca = (fjunc * 0.109625 / (1 + 0.1 / ca_j) + fsl * 0.109625 / (1 + 0.1 / ca_sl)) * (v - ecl);
    real i_clbk = 9e-3 * (v - ecl);

    /* L-type calcium */
    real dss = 1 / (1 + exp(-(v + 14.5) / 6.0)),
         taud = dss * (1 - exp(-(v + 14.5) / 6.0)) / (0.035 * (v + 14.5));
    real fss = 1 / (1 + exp((v + 35.06) / 3.6)) + 0.6 / (1 + exp((50 - v) / 20));
    d[3] = gate(dg, dss, taud);
    d[4] = gate(f, fss, 1 / (0.0197 * exp(-SQUARE(0.0337 * (v + 14.5))) + 0.02));
    d[5] = 1.7 * ca_j * (1 - fcab_j) - 11.9e-3 * fcab_j;
    d[6] = 1.7 * ca_sl * (1 - fcab_sl) - 11.9e-3 * fcab_sl;
    real vff = v * frdy * frt, e1 = exp(v * frt), e2 = exp(2 * v * frt);
    real ibarca_j = 5.4e-4 * 4 * vff * (0.341 * ca_j * e2 - 0.341 * cao) / (e2 - 1);
    real ibarca_sl = 5.4e-4 * 4 * vff * (0.341 * ca_sl * e2 - 0.341 * cao) / (e2 - 1);
    real ibark = 2.7e-7 * vff * (0.75 * k_i * e1 - 0.75 * ko) / (e1 - 1);
    real ibarna_j = 1.5e-8 * vff * (0.75 * na_j * e1 - 0.75 * nao) / (e1 - 1);
    real ibarna_sl = 1.5e-8 * vff * (0.75 * na_sl * e1 - 0.75 * nao) / (e1 - 1);
    real open_j = fjunc_cal * dg * f * (1 - fcab_j) * 0.45, open_sl = fsl_cal * dg * f * (1 - fcab_sl) * 0.45;
    real i_ca_junc = ibarca_j * open_j, i_ca_sl = ibarca_sl * open_sl, i_cak = ibark * (open_j + open_sl);
    real i_cana_junc = ibarna_j * open_j, i_cana_sl = ibarna_sl * open_sl;
    real to_myo = cmem / (v_myo * 2 * frdy) * 1e3;
    d[42] = -(i_ca_junc + i_ca_sl) * to_myo;

    /* sodium-calcium exchanger */
    real en = exp(0.35 * v * frt), em = exp((0.35 - 1) * v * frt), nao3 = CUBE(nao), kmnai3 = CUBE(12.29),
         kmnao3 = CUBE(87.5);
    real ka_junc = 1 / (1 + CUBE(0.256e-3 / ca_j)), ka_sl = 1 / (1 + CUBE(0.256e-3 / ca_sl));
    real s3_junc = (3.59e-3 * nao3 * (1 + CUBE(na_j) / kmnai3) + kmnao3 * ca_j +
                    kmnai3 * cao * (1 + ca_j / 3.59e-3) + 1.3 * CUBE(na_j) + CUBE(na_j) * cao + nao3 * ca_j) *
                   (1 + 0.27 * em);
    real s3_sl =
        (3.59e-3 * nao3 * (1 + CUBE(na_sl) / kmnai3) + kmnao3 * ca_sl + kmnai3 * cao * (1 + ca_sl / 3.59e-3) +
         1.3 * CUBE(na_sl) + CUBE(na_sl) * cao + nao3 * ca_sl) *
        (1 + 0.27 * em);
    real i_ncx_junc = fjunc * 9.0 * ka_junc * (en * CUBE(na_j) * cao - em * nao3 * ca_j) / s3_junc;
    real i_ncx_sl = fsl * 9.0 * ka_sl * (en * CUBE(na_sl) * cao - em * nao3 * ca_sl) / s3_sl;
    d[44] = 2 * (i_ncx_junc + i_ncx_sl) * to_myo;

    /* calcium pump and background */
    real pump_j = pow(ca_j, 1.6), pump_sl = pow(ca_sl, 1.6), half_pump = pow(0.5e-3, 1.6);
    real i_pca_junc = fjunc * 0.0673 * pump_j / (half_pump + pump_j),
         i_pca_sl = fsl * 0.0673 * pump_sl / (half_pump + pump_sl);
    d[43] = -(i_pca_junc + i_pca_sl) * to_myo;
    real i_cabk_junc = fjunc * 2.513e-4 * (v - eca_junc), i_cabk_sl = fsl * 2.513e-4 * (v - eca_sl);
    d[45] = -(i_cabk_junc + i_cabk_sl) * to_myo;

    /* the store: release, pump, leak */
    real kcasr = 15.0 - (15.0 - 1.0) / (1 + pow(0.45 / ca_sr, 2.5)), ko_sr = 10.0 / kcasr,
         ki_sr = 0.5 * kcasr;
    real ri = 1 - y[13] - y[14] - y[15];
    d[13] = (0.005 * ri - ki_sr * ca_j * y[13]) - (ko_sr * SQUARE(ca_j) * y[13] - 0.06 * y[14]);
    d[14] = (ko_sr * SQUARE(ca_j) * y[13] - 0.06 * y[14]) - (ki_sr * ca_j * y[14] - 0.005 * y[15]);
    d[15] = (ki_sr * ca_j * y[14] - 0.005 * y[15]) - (0.06 * y[15] - ko_sr * SQUARE(ca_j) * ri);
    real release = 25.0 * y[14] * (ca_sr - ca_j), forward = pow(ca_i / 0.246e-3, 1.787),
         backward = pow(ca_sr / 1.7, 1.787);
    real serca = 2.86e-4 * (forward - backward) / (1 + forward + backward), leak = 5.348e-6 * (ca_sr - ca_j);

    /* buffers */
    d[16] = 0.1e-3 * na_j * (7.561 - y[16]) - 1e-3 * y[16];
    d[17] = 0.1e-3 * na_sl * (1.65 - y[17]) - 1e-3 * y[17];
    d[18] = 32.7 * ca_i * (70e-3 - y[18]) - 19.6e-3 * y[18];
    d[19] = 2.37 * ca_i * (140e-3 - y[19] - y[20]) - 0.032e-3 * y[19];
    d[20] = 3e-3 * mgi * (140e-3 - y[19] - y[20]) - 3.33e-3 * y[20];
    d[21] = 0;
    d[22] = 13.8 * ca_i * (140e-3 - y[22] - y[23]) - 0.46e-3 * y[22];
    d[23] = 15.7e-3 * mgi * (140e-3 - y[22] - y[23]) - 0.057e-3 * y[23];
    d[24] = 100.0 * ca_i * (19 * 0.9e-3 - y[24]) - 60e-3 * y[24];
    real bound_cytosol = d[18] + d[19] + d[20] + d[21] + d[22] + d[23] + d[24];
    d[25] = 100.0 * ca_j * (4.62e-3 * v_myo / v_junc * 0.1 - y[25]) - 1300e-3 * y[25];
    d[26] = 100.0 * ca_sl * (37.38e-3 * v_myo / v_sl - y[26]) - 1300e-3 * y[26];
    d[27] = 100.0 * ca_j * (1.65e-3 * v_myo / v_junc * 0.1 - y[27]) - 30e-3 * y[27];
    d[28] = 100.0 * ca_sl * (13.35e-3 * v_myo / v_sl - y[28]) - 30e-3 * y[28];
    d[29] = 100.0 * ca_sr * (2.7 - y[29]) - 65 * y[29];

    /* concentrations */
    real i_na_tot_junc = i_na_junc + i_nabk_junc + 3 * i_ncx_junc + 3 * i_nak_junc + i_cana_junc;
    real i_na_tot_sl = i_na_sl + i_nabk_sl + 3 * i_ncx_sl + 3 * i_nak_sl + i_cana_sl;
    real i_ca_tot_junc = i_ca_junc + i_cabk_junc + i_pca_junc - 2 * i_ncx_junc;
    real i_ca_tot_sl = i_ca_sl + i_cabk_sl + i_pca_sl - 2 * i_ncx_sl;
    d[30] = serca * v_myo / v_sr - (leak * v_myo / v_sr + release) - d[29];
    d[31] = -i_na_tot_junc * cmem / (v_junc * frdy) + j_na_juncsl / v_junc * (na_sl - na_j) - d[16];
    d[32] = -i_na_tot_sl * cmem / v_sl / frdy + j_na_juncsl / v_sl * (na_j - na_sl) +
            j_na_slmyo / v_sl * (na_i - na_sl) - d[17];
    d[33] = j_na_slmyo / v_myo * (na_sl - na_i);
    d[34] = 0;
    d[35] = -i_ca_tot_junc * cmem / (v_junc * 2 * frdy) + j_ca_juncsl / v_junc * (ca_sl - ca_j) -
            (d[25] + d[27]) + release * v_sr / v_junc + leak * v_myo / v_junc;
    d[36] = -i_ca_tot_sl * cmem / (v_sl * 2 * frdy) + j_ca_juncsl / v_sl * (ca_j - ca_sl) +
            j_ca_slmyo / v_sl * (ca_i - ca_sl) - (d[26] + d[28]);
    d[37] = -serca - bound_cytosol + j_ca_slmyo / v_myo * (ca_sl - ca_i);

    /* potential: paced by a current in the first 5 ms of each cycle */
    real into_cycle = time - cycle * floor(time / cycle), stimulus = into_cycle <= 5 ? 9.5 : 0.0;
    real i_k_tot = i_to + i_kr + i_ks + i_ki - 2 * i_nak + i_cak + i_kp;
    d[38] =
        -(i_na_tot_junc + i_na_tot_sl + i_clca + i_clbk + i_ca_tot_junc + i_ca_tot_sl + i_k_tot - stimulus);
    d[40] = 0;
    d[41] = 0;
}

/* Calmodulin (0..5 free and buffered, with 0, 2 and 4 calcium), its kinase (6..10) and calcineurin
 * (11..14) in one place. Returns the calcium that it takes up. */
CELL_FUNCTION real cell_cam(const real *y, real *d, const real *totals, real k, real mg, real ca)
{
    real b_tot = totals[1], kinase_tot = totals[2], can_tot = totals[3], pp1_tot = totals[4], ca2 = ca * ca;
    real kd02, kd24;
    if (mg <= 1) {
        kd02 = 0.0025 * (1 + k / 0.94 - mg / 0.012) * (1 + k / 8.1 + mg / 0.022);
        kd24 = 0.128 * (1 + k / 0.64 + mg / 0.0014) * (1 + k / 13.0 - mg / 0.153);
    } else {
        kd02 = 0.0025 * (1 + k / 0.94 - 1 / 0.012 + (mg - 1) / 0.060) *
               (1 + k / 8.1 + 1 / 0.022 + (mg - 1) / 0.068);
        kd24 = 0.128 * (1 + k / 0.64 + 1 / 0.0014 + (mg - 1) / 0.005) *
               (1 + k / 13.0 - 1 / 0.153 + (mg - 1) / 0.150);
    }
    real k20 = 10, k02 = k20 / kd02, k42 = 500, k24 = k42 / kd24;
    real b0_off = 0.0014, b_on = b0_off / 0.2, b2_off = b0_off / 100, kib = 2.2 / 33.5e-3, kpp1 = 1.72,
         kmpp1 = 11.5;

    real rcn02 = k02 * ca2 * y[0] - k20 * y[1], rcn24 = k24 * ca2 * y[1] - k42 * y[2];
    real b = b_tot - y[3] - y[4] - y[5];
    real rcn02b = k02 * ca2 * y[3] - k20 / 100 * y[4], rcn24b = k24 * ca2 * y[4] - k42 * y[5];
    real rcn0b = b_on * y[0] * b - b0_off * y[3], rcn2b = b_on * y[1] * b - b2_off * y[4];
    real rcn4b = b_on * y[2] * b - b2_off * y[5];

    real can2 = can_tot - y[11] - y[12] - y[13] - y[14], off4 = 0.0013, off2 = 2508 * off4, off0 = 165 * off2;
    real rcn_can = 2.0 * ca2 * can2 - y[11];
    real rcn02can = k02 * ca2 * y[12] - k20 / 165 * y[13], rcn24can = k24 * ca2 * y[13] - k20 / 2508 * y[14];
    real rcn0can = 46 * y[0] * y[11] - off0 * y[12], rcn2can = 46 * y[1] * y[11] - off2 * y[13];
    real rcn4can = 46 * y[2] * y[11] - off4 * y[14];

    real idle = 1 - y[6] - y[7] - y[8] - y[9] - y[10], t = y[7] + y[8] + y[9] + y[10];
    real ib2 = kib * y[1] * idle - kib * 5 * y[6], b2b = k24 * ca2 * y[6] - k42 * 33.5e-3 / 5 * y[7];
    real ib = kib * y[2] * idle - 2.2 * y[7];
    real bt = (0.055 * t + 0.0074 * t * t + 0.015 * CUBE(t)) * y[7] -
              kpp1 * pp1_tot * y[8] / (kmpp1 + kinase_tot * y[8]);
    real tt2 = k42 * 33.5e-6 / 5 * y[8] - k24 * ca2 * y[9], ta = 2.2 / 1000 * y[8] - kib * y[2] * y[10];
    real t2a = kib * 5 * y[9] - kib * y[1] * y[10],
         t2b2 = kpp1 * pp1_tot * y[9] / (kmpp1 + kinase_tot * y[9]);
    real ai = kpp1 * pp1_tot * y[10] / (kmpp1 + kinase_tot * y[10]);

    d[0] = 1e-3 * (-rcn02 - rcn0b - rcn0can);
    d[1] = 1e-3 * (rcn02 - rcn24 - rcn2b - rcn2can + kinase_tot * (-ib2 + t2a));
    d[2] = 1e-3 * (rcn24 - rcn4b - rcn4can + kinase_tot * (-ib + ta));
    d[3] = 1e-3 * (rcn0b - rcn02b);
    d[4] = 1e-3 * (rcn02b + rcn2b - rcn24b);
    d[5] = 1e-3 * (rcn24b + rcn4b);
    d[6] = 1e-3 * (ib2 - b2b + t2b2);
    d[7] = 1e-3 * (ib + b2b - bt);
    d[8] = 1e-3 * (bt - ta - tt2);
    d[9] = 1e-3 * (tt2 - t2a - t2b2);
    d[10] = 1e-3 * (ta + t2a - ai);
    d[11] = 1e-3 * (rcn_can - rcn0can - rcn2can - rcn4can);
    d[12] = 1e-3 * (rcn0can - rcn02can);
    d[13] = 1e-3 * (rcn2can + rcn02can - rcn24can);
    d[14] = 1e-3 * (rcn4can + rcn24can);
    return 1e-3 * (2 * kinase_tot * (tt2 - b2b) -
                   2 * (rcn02 + rcn24 + rcn02b + rcn24b + rcn_can + rcn02can + rcn24can));
}

/* What calmodulin takes from the calcium, and its diffusion between the three places. */
CELL_FUNCTION void cell_fin(const real *y, real *d, const real *params, const real *com)
{
    real v_myo = 2.1454e-11, v_dyad = 1.7790e-14, v_sl = 6.6013e-13, k_slmyo = 8.587e-15;
    real off[3] = {0.0014, 0.0014 / 100, 0.0014 / 100}, on = 0.0014 / 0.2;
    for (int c = 0; c < 3; c++) d[ECC + 35 + c] = d[ECC + 35 + c] + 1e-3 * com[c];
    real total = y[DYAD] + y[DYAD + 1] + y[DYAD + 2] + y[DYAD + 3] + y[DYAD + 4] + y[DYAD + 5] +
                 params[2] * (y[DYAD + 6] + y[DYAD + 7] + y[DYAD + 8] + y[DYAD + 9]) + y[DYAD + 12] +
                 y[DYAD + 13] + y[DYAD + 14];
    real b_dyad = params[1] - total;
    for (int c = 0; c < 3; c++) {
        real dyad_sl = 1e-3 * (off[c] * y[DYAD + c] - on * b_dyad * y[SL + c]),
             sl_myo = k_slmyo * (y[SL + c] - y[CYTOSOL + c]);
        d[DYAD + c] = d[DYAD + c] - dyad_sl;
        d[SL + c] = d[SL + c] + dyad_sl * v_dyad / v_sl - sl_myo / v_sl;
        d[CYTOSOL + c] = d[CYTOSOL + c] + sl_myo / v_myo;
    }
}

/* Rates of change of all values; com is three words of work space. Overflows of a wild step become a small
 * number. */
CELL_FUNCTION void cell_rates(real time, const real *y, const real *params, real *d, real *com)
{
    cell_ecc(time, y, d, params);
    for (int part = 0; part < 3; part++) {
        int at = DYAD + 15 * part;
        com[part] = cell_cam(y + at, d + at, params + 5 * part, params[16], params[17], y[35 + part] * 1e3);
    }
    cell_fin(y, d, params, com);
    for (int i = 0; i < EQUATIONS; i++)
        if (!(d[i] - d[i] == 0)) d[i] = 0.0001;
}

#endif
