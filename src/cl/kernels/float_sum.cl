/// Float sums that are correctly rounded or known to be uncertain, in four parts (engine/values/compensated_sum.h).
/// Precedes kernels that add floats.
/* Sets *a to the rounded sum and returns the rounding error. */
double two_sum(double *a, double b)
{
    const double sum = *a + b, part = sum - *a;
    const double error = (*a - (sum - part)) + (b - part);
    *a = sum;
    return error;
}
void add_float(double *high, double *low, double *rest, double *weight, double term)
{
    const double error = two_sum(high, term), lost = two_sum(low, error);
    *rest += lost;
    *weight += fabs(lost);
}
/* The sum of at most so many terms; sets *failed if its rounding is not certain. */
double rounded_sum(double high, double low, double rest, double weight, double terms, int *failed)
{
    double result = high;
    double small = two_sum(&result, low);
    const double smaller = two_sum(&small, rest), offset = two_sum(&result, small);
    const double bound = fabs(smaller) + terms * weight * 0x1p-52;
    double most = offset + bound, least = offset - bound;
    most += fabs(most) * 0x1p-50 + 0x1p-1074;
    least -= fabs(least) * 0x1p-50 + 0x1p-1074;
    const int sure = (smaller == 0 && weight == 0) || (result + most == result && result + least == result);
    *failed |= !(fabs(result) <= DBL_MAX && bound <= DBL_MAX && sure);
    return result + 0.0;
}
