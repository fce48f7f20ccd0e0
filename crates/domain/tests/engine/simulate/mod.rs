//! Forecasts.

mod forecast;
